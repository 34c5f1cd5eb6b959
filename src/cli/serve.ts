import type { Logger } from "pino";
import packageJson from "../../package.json" with { type: "json" };
import type { Clock } from "../core/clock.ts";
import { present } from "../core/present.ts";
import { wordsOf } from "../store/open-store.ts";
import { readHosts } from "../store/postgres/connections/hosts.ts";
import { StoreUnavailable } from "../store/store.ts";
import { type Postrider, startPostrider } from "./compose.ts";
import { type Config, type Environment, readConfig, type ServeOptions } from "./config.ts";
import { welcome } from "./data-folder/first-start.ts";
import { ListenFailure, listenProblem } from "./http/listen.ts";
import { createLog } from "./log.ts";
import { stopSignals } from "./stop-signals.ts";
import { createSystemClock } from "./system-clock.ts";
import { unblocked } from "./unblocked.ts";

/** A stop that takes longer is stuck: the process exits with code 1. */
const STOP_LIMIT_MS = 20_000;

/**
 * A signal this long after the first counts as a second one, and ends the process at once. Signals that come closer together
 * count as one: Ctrl-C reaches the service both from the terminal and from npm.
 */
const SECOND_SIGNAL_MS = 1_000;

/** How long a start may go on after a signal. Until it serves requests it can be cut off anywhere. */
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
  const output = unblocked("stdout");
  const log = createLog(config.logLevel, output);
  const clock = createSystemClock();
  let service: Postrider | undefined;
  // Before the start, so that a signal during it is not missed.
  const signalled = whenSignalled(clock, (why) => giveUp(why, log, service?.unfinished() ?? ["the start"]));
  let isServing = false;
  const onServing = () => {
    isServing = true;
  };
  void signalled.then(() => setTimeout(() => isServing || endStart(log), START_LIMIT_MS));
  try {
    const started = await startPostrider({ config, clock, log, onServing, signalled });
    service = started;
    if (started.sandbox) output.write(welcome(started.sandbox, config));
    log.info(describe(started, config), "ready");
    void signalled.then(() => stop(started, log));
  } catch (error) {
    process.stderr.write(`postrider cannot start: ${await reasonOf(error, config)}\n`);
    log.debug({ err: error }, "start failed");
    process.exit(1);
  }
}

async function reasonOf(error: unknown, { dataFolder, databaseUrl }: Config): Promise<string> {
  if (error instanceof ListenFailure) return listenProblem(error);
  if (!(error instanceof Error)) return String(error);
  // SQLite's own words, as of a full disk, do not say where that is.
  const isOfFolder = databaseUrl === undefined && error instanceof StoreUnavailable;
  return isOfFolder ? `${dataFolder}: ${wordsOf(error)}` : wordsOf(error);
}

/** What runs, and where, for the log. */
function describe({ url, metricsUrl, bouncePort }: Postrider, config: Config): Record<string, unknown> {
  const { bounce, roles, dataFolder, databaseUrl } = config;
  return {
    version: packageJson.version,
    url,
    ...present({ metrics: metricsUrl }),
    ...(bounce && bouncePort !== undefined && { bounces: placeOf(bounce.host, bouncePort) }),
    roles: [...roles],
    data: dataFolder,
    ...(databaseUrl !== undefined && { database: readHosts(databaseUrl).place }),
  };
}

const placeOf = (host: string, port: number) => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Resolves at the first signal. `onLate` is called if the stop takes too long, or at a second signal. */
function whenSignalled(clock: Clock, onLate: (why: string) => never): Promise<void> {
  return new Promise((resolve) => {
    let firstMs: number | undefined;
    const onSignal = () => {
      if (firstMs === undefined) {
        firstMs = clock.monotonicMs();
        setTimeout(onLate, STOP_LIMIT_MS, `not stopped within ${STOP_LIMIT_MS / 1_000} s`).unref();
        resolve();
      } else if (clock.monotonicMs() - firstMs >= SECOND_SIGNAL_MS)
        onLate("stopped at once by a second signal");
    };
    for (const signal of stopSignals()) process.on(signal, onSignal);
  });
}

/** Ends the process. The next start goes on with what is unfinished, as after `kill -9`. */
function giveUp(why: string, log: Logger, unfinished: readonly string[]): never {
  const left = unfinished.length > 0 ? unfinished.join(", ") : "nothing";
  log.fatal({ unfinished }, why);
  unblocked("stderr").write(
    `postrider: ${why}; unfinished: ${left}. Nothing that was accepted is lost: the next start goes on with it, and an attempt whose result is not stored is unconfirmed\n`,
  );
  process.exit(1);
}

function endStart(log: Logger): never {
  log.info({}, "stopped before it was ready");
  process.exit();
}

async function stop(service: Postrider, log: Logger): Promise<never> {
  log.info({}, "stopping");
  try {
    await service.stop();
  } catch (error) {
    unblocked("stderr").write(`postrider could not stop cleanly: ${String(error)}\n`);
    process.exit(1);
  }
  log.info({}, "stopped");
  // Exits with 0, unless something other than a signal has asked for the stop and set another code.
  process.exit();
}
