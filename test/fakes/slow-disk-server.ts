/** `postrider serve --roles api` on a disk whose every commit takes `COMMIT_MS` longer. */
import { startPostrider } from "../../src/cli/compose.ts";
import { readConfig } from "../../src/cli/config.ts";
import { createLog } from "../../src/cli/log.ts";
import { createSystemClock } from "../../src/cli/system-clock.ts";

const has = (option: string) => process.argv.includes(option);

const storeThread = has("--store-thread") || (has("--no-store-thread") ? false : undefined);
const result = readConfig(process.env, {
  roles: "api",
  ...(storeThread !== undefined && { storeThread }),
});
if (!("config" in result)) throw new Error(result.problems.join());
const log = createLog("info");
const service = await startPostrider({
  config: result.config,
  clock: createSystemClock(),
  log,
  faults: { commitMs: Number(process.env.COMMIT_MS) },
});
log.info({ url: service.url }, "ready");
