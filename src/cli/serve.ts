import { startPostrider } from "./compose.ts";
import { type Environment, readConfig } from "./config.ts";
import { welcome } from "./first-start.ts";
import { createLog } from "./log.ts";
import { createSystemClock } from "./system-clock.ts";

/** A stop that takes longer has something stuck in it. */
const STOP_LIMIT_MS = 20_000;

/** Runs the service until a signal ends it. */
export async function serve(env: Environment, roles: string | undefined): Promise<void> {
  const result = readConfig(env, roles);
  if ("problems" in result) {
    const lines = result.problems.map((problem) => `  ${problem}`).join("\n");
    process.stderr.write(`postrider cannot start with this configuration:\n${lines}\n`);
    process.exit(1);
  }
  const { config } = result;
  const log = createLog(config.logLevel);
  const clock = createSystemClock();
  try {
    const service = await startPostrider({ config, clock, log });
    if (service.sandbox) process.stdout.write(welcome(service.sandbox, config.dataFolder));
    log.info({ url: service.url, roles: [...config.roles], data: config.dataFolder }, "ready");
    stopOnSignal(async () => {
      log.info({}, "stopping");
      await service.stop();
      log.info({}, "stopped");
    });
  } catch (error) {
    process.stderr.write(
      `postrider cannot start: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    log.debug({ err: error }, "start failed");
    process.exit(1);
  }
}

function stopOnSignal(stop: () => Promise<void>): void {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        process.stderr.write(`postrider could not stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}
