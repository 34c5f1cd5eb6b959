/** The program with a clock that is `AHEAD_MS` milliseconds ahead: what is started as it would be after so long a time, or before it. */
import { join } from "node:path";

const aheadMs = Number(process.env.AHEAD_MS);
const now = Date.now;
Date.now = () => now() + aheadMs;

await import(join(import.meta.dir, "../../src/cli/main.ts"));
