/** The composition root: makes every part, starts them in order and stops them in reverse. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { type MakeDkimKeys, makeDkimKeys } from "../api/admin/domains/dkim-pair.ts";
import { present } from "../core/present.ts";
import { createIds } from "../core/uuid.ts";
import type { Disk } from "../delivery/alarm-conditions.ts";
import { createLockMemory } from "../store/sqlite/database/write-lock.ts";
import type { Store } from "../store/store.ts";
import { ensureDataFolder, refuseHalfRestored } from "./data-folder/data-folder.ts";
import { createDiskLook, diskOf } from "./data-folder/disk-of.ts";
import { warnOfExposed } from "./data-folder/exposed-files.ts";
import { firstStart, type Sandbox } from "./data-folder/first-start.ts";
import { openBounces } from "./email/bounces.ts";
import { createMailKeys, type MailKeys } from "./email/mail-keys.ts";
import { createDrain } from "./http/drain.ts";
import { createGate } from "./http/gate.ts";
import { createHttp } from "./http/make-http.ts";
import { openPorts, otherListeners } from "./http/open-ports.ts";
import type { Renew } from "./http/served-tls.ts";
import type { Tls } from "./http/tls-files.ts";
import { consoleKeyOf } from "./keys/console-key.ts";
import { readMasterKey } from "./keys/master-key.ts";
import { finishRotation } from "./keys/rotate-key.ts";
import { createListeners, type Listeners, type ListenersOptions } from "./listeners/start-listeners.ts";
import { makeLoops, startLoops } from "./loops.ts";
import { keepTimer, reportLateTimers } from "./metrics/late-timers.ts";
import { createMetrics, type Metrics } from "./metrics/metrics.ts";
import type { Lookups } from "./network/create-lookups.ts";
import { createDns } from "./network/dns.ts";
import type { FixedAddress } from "./network/web.ts";
import { type DataOptions, openData } from "./open-data.ts";
import type { Parts } from "./parts.ts";
import { createRunning, type Ending } from "./running.ts";
import { createSteadyLog } from "./steady-log.ts";
import { createThreads } from "./threads.ts";
import { watchReceipts } from "./watch-receipts.ts";

export interface Postrider {
  /** Base URL of the API. */
  readonly url: string;
  /** Where probes and metrics alone are served, if they have a port of their own. */
  readonly metricsUrl?: string;
  /** Port of the bounce listener, if it is on. */
  readonly bouncePort?: number;
  /** Set on the first start on an empty database. */
  readonly sandbox?: Sandbox;
  /** Stops accepting, finishes what is in flight, closes the database; within 20 s, if the database answers. */
  stop(): Promise<void>;
  /** What `stop` still waits for, in words for the operator. */
  unfinished(): readonly string[];
}

export interface StartOptions extends Pick<DataOptions, "config" | "clock" | "log" | "faults" | "drivers"> {
  /** Called once requests are answered, which is before all parts have started. */
  readonly onServing?: () => void;
  /** Resolves when the process is told to stop: nobody waits for the start any longer. */
  readonly signalled?: Promise<void>;
  /** For tests: stands in for the hosts of providers. */
  readonly webAddress?: FixedAddress;
  /** For tests: stands in for the disk of the data folder. */
  readonly diskOf?: (folder: string) => Promise<Disk>;
  /** For tests: hands out keys that were made before. */
  readonly makeDkimKeys?: MakeDkimKeys;
  /** For tests that hold the clock: looks names up without a thread, which held time would overtake. */
  readonly lookups?: Lookups;
}

/** Starts the service. Rejects, with nothing left running, when a part cannot start. */
export async function startPostrider(given: StartOptions): Promise<Postrider> {
  const metrics = createMetrics(given.clock, given.config.roles);
  const clock = reportLateTimers(given.clock, (lateMs) => metrics.timer("main", lateMs));
  const options = { ...given, clock };
  const { config } = options;
  // On PostgreSQL only the first start writes to the folder, and reports it itself if it cannot.
  ensureDataFolder(config.dataFolder, { isWritten: config.databaseUrl === undefined });
  if (config.databaseUrl === undefined) {
    refuseHalfRestored(config.dataFolder);
    await finishRotation(config.dataFolder);
  }
  warnOfExposed(options.log, config.dataFolder);
  const masterKey = readMasterKey(config.dataFolder, config.secret);
  const memory = createLockMemory();
  const onLost = (error: Error) => endProcess(error, options.log);
  const store = await openData({ ...options, masterKey, memory, onLost });
  const listeners = openListeners(options, { masterKey, memory, onLost, observe: metrics });
  try {
    const mailKeys = createMailKeys(masterKey, await store.earlierKeys());
    const consoleKey = consoleKeyOf(masterKey);
    const parts = makeParts(options, { store, metrics, listeners, mailKeys, consoleKey });
    return await startParts(parts, listeners, options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface Opened {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly listeners: Listeners;
  readonly mailKeys: MailKeys;
  readonly consoleKey: Uint8Array;
}

function makeParts(
  options: StartOptions,
  { store, metrics, listeners, mailKeys, consoleKey }: Opened,
): Parts {
  const { config, clock, log, webAddress, lookups } = options;
  const askDisk = options.diskOf ?? diskOf;
  const threads = { ...createThreads(clock), ...present({ lookups }) };
  return {
    ...threads,
    config,
    clock,
    log,
    steadyLog: createSteadyLog(log, clock),
    store: {
      ...store,
      queue: listeners.heard(store.queue),
      inbound: metrics.inbound.counted(store.inbound),
    },
    metrics,
    ids: createIds(clock, randomBytes),
    dns: createDns(store.records, clock, threads.lookups.open),
    mailKeys,
    consoleKey,
    ...present({ webAddress }),
    ...(config.databaseUrl === undefined && {
      disk: createDiskLook(clock, () => askDisk(config.dataFolder)),
    }),
    makeDkimKeys: options.makeDkimKeys ?? makeDkimKeys,
  };
}

/** Rejects when a part cannot start, after stopping those that have started. */
async function startParts(parts: Parts, listeners: Listeners, options: StartOptions): Promise<Postrider> {
  const { config, clock, store } = parts;
  const gate = createGate(clock, parts.ids);
  void options.signalled?.then(gate.giveUp);
  const drain = createDrain(clock);
  const { listener, metricsListener } = await openPorts(parts, gate.fetch);
  const { url: baseUrl } = listener;
  const loops = makeLoops(parts);
  const running = createRunning();
  running.add("open requests", listener);
  if (metricsListener) running.add("open requests for metrics", metricsListener);
  running.add("the other listeners", listeners);
  running.add("a timer", keepTimer(clock));
  const stop = (...last: readonly Ending[]) => {
    drain.begin();
    gate.giveUp();
    return running.stop(
      ["leases", async () => loops.shares?.stop()],
      ["large mail", parts.largeBodies.stop],
      ["look-ups", parts.lookups.stop],
      ...last,
    );
  };
  try {
    const sandbox = await firstStart({ ...parts, ...config, randomBytes, now: clock.now(), baseUrl });
    // The engine hears of receipts that come by HTTP, or as bounces.
    const watched = { ...parts, store: watchReceipts(store, loops.engine.noteReceipts) };
    let isListening = false;
    const state = { isListening: () => isListening, ...drain };
    gate.open(createHttp(watched, { ...loops, listeners, baseUrl, state }));
    options.onServing?.();
    await listeners.start(Number(new URL(baseUrl).port), gate.fetch);
    const bounces = await openBounces(watched);
    if (bounces) running.add("mail that is coming in", bounces);
    isListening = true;
    const renew = renewAll(listeners, listener, metricsListener, bounces);
    await startLoops(config.roles, { ...loops, renew }, running);
    return {
      url: baseUrl,
      ...present({ metricsUrl: metricsListener?.url }),
      ...(bounces && { bouncePort: bounces.port }),
      ...(sandbox && { sandbox }),
      stop: () => stop(["the database", store.close]),
      unfinished: running.unfinished,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Has the threads and all servers show another certificate. */
function renewAll(
  listeners: Listeners,
  ...servers: readonly ({ renew(tls: Tls): void } | undefined)[]
): Renew {
  return async (tls) => {
    for (const server of servers) server?.renew(tls);
    await listeners.renew(tls);
  };
}

interface ListenerParts extends Pick<ListenersOptions, "memory" | "onLost" | "observe"> {
  readonly masterKey: string;
}

function openListeners({ config, clock }: StartOptions, parts: ListenerParts): Listeners {
  const { host, tls, dataFolder, logLevel, trustedProxies } = config;
  const { masterKey, ...shared } = parts;
  return createListeners({
    ...shared,
    count: otherListeners(config),
    program: new URL("./listener-thread.ts", import.meta.url),
    clock,
    setup: {
      host,
      ...(tls && { tls }),
      dataFolder,
      masterKey,
      logLevel,
      trustedProxies: trustedProxies.map(([address, bits]) => `${address.toString()}/${bits}`),
    },
  });
}

/** Called when the store's thread, or a listener's, has ended by itself. What was accepted is on disk: a restart is safe. */
function endProcess(error: Error, log: Logger): void {
  log.fatal({ err: error }, "a thread ended by itself");
  process.exit(1);
}
