/**
 * Runs the program with a clock that is `AHEAD_MS` milliseconds ahead, or behind if that is negative. At every SIGUSR2 it
 * leaps `LEAP_MS` further, as after a sleep of the machine.
 */
import { join } from "node:path";

let aheadMs = Number(process.env.AHEAD_MS);
const now = Date.now;
Date.now = () => now() + aheadMs;
process.on("SIGUSR2", () => {
  aheadMs += Number(process.env.LEAP_MS);
});

await import(join(import.meta.dir, "../../src/cli/main.ts"));
