/** The whole service in this process, composed as in production, on a clock that only the test moves. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pino from "pino";
import { type StartOptions, startPostrider } from "../src/cli/compose.ts";
import { type Environment, readConfig } from "../src/cli/config.ts";
import type { Sandbox } from "../src/cli/data-folder/first-start.ts";
import { createFreshResolvers } from "../src/cli/network/fresh-resolvers.ts";
import type { Clock } from "../src/core/clock.ts";
import { present } from "../src/core/present.ts";
import type { Peer } from "./admin.ts";
import { connectedDatabaseOf } from "./both-stores.ts";
import { createHeldClock } from "./fakes/held-clock.ts";
import { keptDkimKeys } from "./fakes/kept-dkim-keys.ts";
import { placeMigrated } from "./migrated-folder.ts";
import { answersOfPostgres } from "./postgres-answers.ts";
import { makeDataFolder, onPostgres } from "./postrider-process.ts";
import { until } from "./until.ts";

/** The step in which time passes while a test waits, */
const STEP_MS = 100;

/** and where it waits long, this part of what it has waited. */
const PART = 1 / 40;

/** Loops are late by this at most: health checks, leases and time limits allow for more. Each turn of theirs is work. */
const LATE_MS = 3_000;

/** A limit in real time, long enough for a busy machine, shorter than the time limit of a test. */
const LATEST_MS = 60_000;

/** A long time passes in at most this many steps, */
const MOST_STEPS = 200;

/** and a shorter one in this many, of LATE_MS each at most. */
const STEPS = 40;

/** On SQLite, which keeps nobody waiting, this passes in one. */
const AT_ONCE_MS = 10_000;

export interface MessageAt {
  readonly path: string;
  readonly apiKey: string;
}

export interface HeldPostrider extends Peer {
  readonly dataFolder: string;
  /** Where probes and metrics alone are served, if `METRICS_PORT` was given. */
  readonly metricsUrl?: string;
  /** The port of the bounce listener, if `BOUNCE_PORT` was given. */
  readonly bouncePort?: number;
  /** Its log, parsed. */
  readonly logged: readonly Readonly<Record<string, unknown>>[];
  now(): number;
  /** Lets time pass; everything that comes due on the way happens. */
  pass(ms: number): Promise<void>;
  /** Lets time pass until `isSo` is true; rejects if it is not after `withinMs`. Resolves with the time it took. */
  passUntil(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<number>;
  /** Lets time pass until the message has one of the statuses (within a minute of it, unless told otherwise). */
  reached(message: MessageAt & { withinMs?: number }, ...statuses: string[]): Promise<string>;
  /** The message's status now, or its HTTP status where that is not 200. */
  status(message: MessageAt): Promise<string>;
  /** Sets the wall clock forward, as after a long sleep of the machine; nothing happens on the way. */
  leap(ms: number): void;
  /** Tells the service to stop, which takes some time; `close` lets it pass. */
  stop(): void;
  /** Stops the service and removes its data. */
  close(): Promise<void>;
}

/** What real sockets bring may come when the held time is over: it is awaited in real time, while the clock stands still. */
async function comesLate(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<number> {
  await until(isSo, Boolean, { withinMs: LATEST_MS, pauseMs: 10 }).catch((cause) => {
    throw new Error(`it did not come to it within ${withinMs} ms`, { cause });
  });
  return withinMs;
}

/** No test is to see an alarm because the machine's own disk is nearly full. */
async function emptyDisk(folder: string) {
  return { folder, free: 1e12, size: 1e12 };
}

export async function startHeldPostrider(
  roles?: string,
  environment: Environment = {},
  more: Pick<StartOptions, "webAddress" | "diskOf"> = {},
): Promise<HeldPostrider> {
  const folder = makeDataFolder();
  const held = createHeldClock();
  let leaptMs = 0;
  const clock: Clock = {
    now: () => held.now() + leaptMs,
    monotonicMs: held.monotonicMs,
    after: held.after,
  };
  const logged: Record<string, unknown>[] = [];
  const log = pino({ level: "debug" }, { write: (line) => void logged.push(JSON.parse(line)) });
  const database = await connectedDatabaseOf(folder.path);
  const stored = onPostgres(database?.url);
  if (!stored.DATABASE_URL) placeMigrated(folder.path);
  const read = readConfig(
    { PORT: "0", POSTRIDER_DATA: folder.path, ...stored, ...environment },
    roles === undefined ? {} : { roles },
  );
  if ("problems" in read) throw new Error(read.problems.join("; "));
  const postrider = await startPostrider({
    config: read.config,
    clock,
    log,
    makeDkimKeys: keptDkimKeys(),
    ...present({ drivers: database?.drivers }),
    diskOf: emptyDisk,
    lookups: { open: createFreshResolvers(clock), stop: async () => {} },
    ...more,
  });

  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= postrider.stop());
  const status: HeldPostrider["status"] = async ({ path, apiKey }) => {
    const response = await fetch(postrider.url + path, { headers: { Authorization: `Bearer ${apiKey}` } });
    const body = (await response.json()) as { status?: string };
    return response.ok ? String(body.status) : String(response.status);
  };
  /** PostgreSQL, in another process, takes real time for its answers. */
  const step = async (ms: number) => {
    await held.advance(ms, ms > STEP_MS ? { grainMs: Math.min(ms, LATE_MS) } : {});
    if (stored.DATABASE_URL) await answersOfPostgres(stored.DATABASE_URL);
  };
  const ask = () => fetch(`${postrider.url}/healthz`).then((response) => response.text());
  /** Whoever looks asks over a socket, so that time does not run ahead of what the sockets of others bring. */
  const look = async (isSo: Parameters<HeldPostrider["passUntil"]>[0]) => {
    const answer = isSo();
    if (answer === false) await ask();
    return answer;
  };
  const passUntil: HeldPostrider["passUntil"] = async (isSo, withinMs) => {
    const startedAt = clock.now();
    while (!(await look(isSo))) {
      if (clock.now() - startedAt > withinMs) return comesLate(isSo, withinMs);
      await step(Math.max(STEP_MS, Math.ceil((clock.now() - startedAt) * PART)));
    }
    return clock.now() - startedAt;
  };

  return {
    url: postrider.url,
    dataFolder: folder.path,
    ...present({ bouncePort: postrider.bouncePort, metricsUrl: postrider.metricsUrl }),
    sandbox: JSON.parse(readFileSync(join(folder.path, "sandbox.json"), "utf8")) as Sandbox,
    logged,
    now: clock.now,
    async pass(ms) {
      if (!stored.DATABASE_URL && ms <= AT_ONCE_MS) return held.advance(ms);
      const most = Math.max(STEP_MS, Math.min(ms / STEPS, LATE_MS), ms / MOST_STEPS);
      for (let past = 0; past < ms; past += most) {
        await step(Math.min(most, ms - past));
        if (!stored.DATABASE_URL) await ask();
      }
    },
    passUntil,
    async reached({ withinMs = 60_000, ...message }, ...statuses) {
      let last = "";
      const isReached = async () => {
        last = await status(message);
        return statuses.includes(last);
      };
      await passUntil(isReached, withinMs);
      return last;
    },
    status,
    leap(ms) {
      leaptMs += ms;
    },
    stop: () => void stop(),
    async close() {
      let isStopped = false;
      const stopping = stop().finally(() => {
        isStopped = true;
      });
      const isStoppedLater = async () => {
        await held.advance(1_000);
        return isStopped;
      };
      await until(isStoppedLater, Boolean, { pauseMs: 0 });
      await stopping;
      folder.remove();
    },
  };
}
