/** The program of a listener thread. Makes the thread's parts, as `compose.ts` makes those of the process. */
import { randomBytes } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import ipaddr from "ipaddr.js";
import { createMessageApp } from "../api/app.ts";
import type { ObservedRequest } from "../api/app-deps.ts";
import type { Clock } from "../core/clock.ts";
import { errorText } from "../core/error-text.ts";
import { createIds } from "../core/uuid.ts";
import { openStoreBeside } from "../store/open-store.ts";
import type { StoreBeside } from "../store/sqlite/open-beside.ts";
import { CONNECTOR_KINDS } from "./channels.ts";
import { docsAsset } from "./http/docs-asset.ts";
import { createDrain, type Drain } from "./http/drain.ts";
import { type Listener, listen } from "./http/listen.ts";
import type { Tls } from "./http/tls-files.ts";
import { isTrustedProxy } from "./http/trusted-proxies.ts";
import { createLargeBodyThread, type LargeBodyThread } from "./large-bodies/create-large-body-thread.ts";
import { createForward } from "./listeners/forward.ts";
import {
  type AnsweredRequests,
  type FromListener,
  type ListenerSetup,
  type ToListener,
  TURN_MS,
} from "./listeners/thread-messages.ts";
import { createLog } from "./log.ts";
import { reportLateTimers } from "./metrics/late-timers.ts";
import { createSystemClock } from "./system-clock.ts";

if (!parentPort) throw new Error("this program runs on a thread that the service starts");
run(workerData, parentPort);

interface Port {
  postMessage(message: FromListener): void;
  on(event: "message", listener: (message: ToListener) => void): void;
  close(): void;
}

function run(setup: ListenerSetup, port: Port): void {
  const requests = createTally();
  let lateMs: number[] = [];
  const clock = reportLateTimers(createSystemClock(), (late) => lateMs.push(late));
  const checkpointThread = new URL("./checkpoint-thread.ts", import.meta.url);
  const beside = openStoreBeside({ ...setup, randomBytes, checkpointThread, now: clock.now });
  const drain = createDrain(clock);
  const largeBodies = createLargeBodyThread({
    program: new URL("./large-body-thread.ts", import.meta.url),
    clock,
  });
  const parts = { beside, clock, largeBodies, onRequest: requests.add };
  const app = createApp(setup, { ...parts, drain });
  const listener = listen({ ...setup, sharing: "joins" }, clock, app.fetch);
  beside.store.queue.onReady((queue) => port.postMessage({ kind: "ready", queues: [queue] }));

  let turning = clock.after(0, turn);
  function tell() {
    port.postMessage({ kind: "turn", answered: requests.take(), lateMs: Float32Array.from(lateMs) });
    lateMs = [];
  }
  function turn() {
    beside.forget();
    tell();
    turning = clock.after(TURN_MS, turn);
  }
  port.on("message", (message) => {
    if (message.kind === "renew") return port.postMessage(renewed(listener, message.tls));
    drain.begin();
    void listener.stop().then(async () => {
      turning();
      tell();
      await largeBodies.stop();
      await beside.store.close();
      port.postMessage({ kind: "closed" });
      port.close();
    });
  });
  port.postMessage({ kind: "open" });
}

function renewed(listener: Listener, tls: Tls): FromListener {
  try {
    listener.renew(tls);
    return { kind: "renewed" };
  } catch (error) {
    return { kind: "renewed", problem: errorText(error) };
  }
}

interface AppParts {
  readonly beside: StoreBeside;
  readonly clock: Clock;
  readonly largeBodies: LargeBodyThread;
  readonly onRequest: (request: ObservedRequest) => void;
  readonly drain: Drain;
}

function createApp(setup: ListenerSetup, { beside, clock, largeBodies, onRequest, drain }: AppParts) {
  const log = createLog(setup.logLevel).child({ listener: setup.shared.share.index });
  const proxies = setup.trustedProxies.map((each) => ipaddr.parseCIDR(each));
  const ids = createIds(clock, randomBytes);
  return createMessageApp({
    store: beside.store,
    clock,
    ids,
    log: {
      isDebug: () => log.isLevelEnabled("debug"),
      debug: (...line) => log.debug(...line),
      warn: (...line) => log.warn(...line),
      error: (...line) => log.error(...line),
    },
    connectorKinds: CONNECTOR_KINDS,
    isLeaving: drain.isLeaving,
    isDraining: drain.isDraining,
    onRequest,
    docsAsset,
    isTrustedProxy: (address) => isTrustedProxy(address, proxies),
    // The main thread has a share, and forwards nothing.
    forward: createForward(setup.socket, clock, { ids, threads: setup.shared.share.of - 1 }),
    readLargeJson: largeBodies.readJson,
  });
}

/** Counts the requests answered between two turns. */
function createTally() {
  let tally = new Map<
    string,
    { readonly operation: string; readonly status: number; readonly ms: number[] }
  >();
  return {
    add({ operation, status, ms }: ObservedRequest) {
      const key = `${operation} ${status}`;
      const known = tally.get(key);
      if (known) known.ms.push(ms);
      else tally.set(key, { operation, status, ms: [ms] });
    },
    take(): readonly AnsweredRequests[] {
      const answered = [...tally.values()].map((each) => ({ ...each, ms: Float32Array.from(each.ms) }));
      tally = new Map();
      return answered;
    },
  };
}
