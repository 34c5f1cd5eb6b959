import type { Logger } from "pino";
import { wordsOf } from "../store/open-store.ts";
import { readHosts } from "../store/postgres/connections/hosts.ts";
import { type Postrider, startPostrider } from "./compose.ts";
import { type Config, type Environment, readConfig, type ServeOptions } from "./config.ts";
import { welcome } from "./data-folder/first-start.ts";
import { ListenFailure, listenProblem } from "./listen.ts";
import { createLog } from "./log.ts";
import { stopSignals } from "./stop-signals.ts";
import { createSystemClock } from "./system-clock.ts";

/** A stop that takes longer is stuck: the process exits with code 1. */
const STOP_LIMIT_MS = 20_000;

/** How long a start may go on after a signal. Until it serves requests it may be cut off anywhere. */
const START_LIMIT_MS = 1_000;

/** Runs the service until a signal ends it. */
export async function serve(env: Environment, options: ServeOptions): Promise<void> {
  const result = readConfig(env, options);
  if ("problems" in result) {
    const lines = result.problems.map((problem) => `  ${problem}`).join("\n");
    process.stderr.write(`postrider cannot start with this configuration:\n${lines}\n`);
    process.exit(1);
  }
  const { config } = result;
  const log = createLog(config.logLevel);
  const clock = createSystemClock();
  // Before the start, so that a signal during it is not missed.
  const signalled = whenSignalled();
  let isServing = false;
  const onServing = () => {
    isServing = true;
  };
  void signalled.then(() => setTimeout(() => isServing || endStart(log), START_LIMIT_MS));
  try {
    const service = await startPostrider({ config, clock, log, onServing });
    if (service.sandbox) process.stdout.write(welcome(service.sandbox, config.dataFolder));
    log.info({ url: service.url, roles: [...config.roles], ...placeOf(config) }, "ready");
    void signalled.then(() => stop(service, log));
  } catch (error) {
    process.stderr.write(`postrider cannot start: ${await reasonOf(error, config)}\n`);
    log.debug({ err: error }, "start failed");
    process.exit(1);
  }
}

async function reasonOf(error: unknown, { host }: Config): Promise<string> {
  if (error instanceof ListenFailure) return listenProblem(host, error);
  return error instanceof Error ? wordsOf(error) : String(error);
}

/** Where the data is, for the log. */
function placeOf({ dataFolder, databaseUrl }: Config): Record<string, string> {
  return { data: dataFolder, ...(databaseUrl !== undefined && { database: readHosts(databaseUrl).place }) };
}

function whenSignalled(): Promise<void> {
  return new Promise((resolve) => {
    const onSignal = () => {
      setTimeout(() => process.exit(1), STOP_LIMIT_MS).unref();
      resolve();
    };
    for (const signal of stopSignals()) process.on(signal, onSignal);
  });
}

function endStart(log: Logger): never {
  log.info({}, "stopped before it was ready");
  process.exit(0);
}

async function stop(service: Postrider, log: Logger): Promise<never> {
  log.info({}, "stopping");
  try {
    await service.stop();
  } catch (error) {
    process.stderr.write(`postrider could not stop cleanly: ${String(error)}\n`);
    process.exit(1);
  }
  log.info({}, "stopped");
  process.exit(0);
}
