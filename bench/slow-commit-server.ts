/** `postrider serve --roles api` on a disk whose every commit takes 10 ms. */
import { startPostrider } from "../src/cli/compose.ts";
import { readConfig } from "../src/cli/config.ts";
import { createLog } from "../src/cli/log.ts";
import { createSystemClock } from "../src/cli/system-clock.ts";

const COMMIT_MS = 10;

const result = readConfig(process.env, {
  roles: "api",
  storeThread: process.argv.includes("--store-thread"),
});
if (!("config" in result)) throw new Error(result.problems.join());
const log = createLog("info");
const service = await startPostrider({
  config: result.config,
  clock: createSystemClock(),
  log,
  faults: { commitMs: COMMIT_MS },
});
log.info({ url: service.url }, "ready");
