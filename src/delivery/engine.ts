import type { ConnectorStatus } from "../channels/channel.ts";
import type { Random } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Receipt, ReceiptResult } from "../core/messages/outcome.ts";
import { present } from "../core/present.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import { firstOfGroups, type ReceiptGroups, receiptGroups } from "../core/receipts/receipt-groups.ts";
import type { Connector } from "../core/records/accounts.ts";
import {
  createUnstored,
  type MessageStore,
  type Queue,
  type ReceiptStore,
  type Records,
  type Unstored,
} from "../store/store.ts";
import type { QueueConnector, WatchedConnector } from "./alarm-conditions.ts";
import { type Configuration, type ConfigurationDeps, followConfiguration } from "./configuration.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import { createRouteOfJob, type RouteOfJob } from "./job-routes.ts";
import { createIsDeleted } from "./outlets/deleted-connectors.ts";
import type { OpenChannel } from "./outlets/open-outlet.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { createOutlets, type Outlets } from "./outlets/outlets.ts";
import { byTimeline } from "./outlets/receipt-watch.ts";
import { createSlotLine } from "./outlets/slot-line.ts";
import { inquire } from "./receipts/overdue-receipts.ts";
import { type SharedReceiptsDeps, shareReceipts } from "./receipts/shared-receipts.ts";
import { createSendMessage, type SendMessageDeps } from "./send-message.ts";
import { createPrepare, type PrepareDeps } from "./sending/prepare.ts";
import type { Shares } from "./shares/shares.ts";
import { createStrayJobs } from "./stray-jobs.ts";
import { createWorker } from "./worker.ts";
import { createWorkers, type Workers } from "./workers.ts";

/** How long `stop` waits for answers before it tells the channels to give up, which leaves them time to close. */
const GIVE_UP_AFTER_MS = 12_000;

export interface EngineDeps extends PrepareDeps, ConfigurationDeps {
  readonly queue: Queue;
  readonly receipts: ReceiptStore;
  readonly records: Records;
  readonly messages: Pick<MessageStore, "timeline">;
  readonly open: OpenChannel;
  readonly random: Random;
  readonly log: Log;
  readonly observe: DeliveryMetrics;
  /** See `SendMessageDeps`. */
  readonly onLateRefusal: SendMessageDeps["onLateRefusal"];
  /** On whose behalf jobs are claimed now. */
  readonly claimant: () => Claimant;
  /** Its maker starts it before the engine, and stops it after. Absent: this process is the only one that delivers. */
  readonly shares?: Shares;
  /** See `OutletsDeps`. */
  readonly slotsOf: (connector: Connector) => number | undefined;
}

/** Everything between the queue and the channels: a worker for each queue, an outlet for each connector. */
export interface Engine {
  start(): Promise<void>;
  /** Applies the configuration as it is now; does nothing before `start`. */
  reconcile(): Promise<void>;
  /** Ids of the jobs that are being sent; see `InFlightJobs`. */
  inFlight(): readonly number[];
  /** See `Unstored.count`. */
  unstored(): number;
  /** Names of the workers whose loop has not turned within `ms`. */
  stalled(ms: number): readonly string[];
  connectorStatus(connectorId: string): ConnectorStatus | undefined;
  /** Every open connector: enabled, and of a kind that is known. */
  connectors(): readonly WatchedConnector[];
  /** Those that may send what waits in a queue, in the order in which they are tried; none if the queue is unknown. */
  connectorsOf(queue: string): readonly QueueConnector[];
  /** The connector that stands for all over which the provider may deliver what belongs together: the first of the account there. */
  sharedAs(connectorId: string): string;
  /** Tells of receipts that have been stored, and their results: a connector's health depends on when its receipts come. */
  noteReceipts(receipts: readonly Receipt[], results: readonly ReceiptResult[]): void;
  /** Finishes what is in hand, within 20 s. */
  stop(): Promise<void>;
}

export function createEngine(deps: EngineDeps): Engine {
  const stopping = new AbortController();
  const givingUp = new AbortController();
  let configuration: Configuration = { connectors: [], routes: [] };
  const parts = createParts(deps, () => configuration, givingUp.signal);
  const { outlets, workers } = parts;
  const sideLoops = createSideLoops(deps, parts);
  let watching: Promise<unknown> | undefined;
  let unsubscribe = () => {};
  let isStarted = false;

  const { reconcile, follow } = followConfiguration(deps, (changed) => {
    // If `stop` was called while the configuration was read, nothing would stop what this starts.
    if (stopping.signal.aborted) return;
    configuration = changed;
    sideLoops.reconcile(configuration);
    outlets.reconcile(configuration.connectors);
    workers.reconcile(configuration.routes);
    workers.wakeAll();
  });

  return {
    async start() {
      isStarted = true;
      unsubscribe = deps.queue.onReady(workers.wake);
      await reconcile();
      const { signal } = stopping;
      watching = Promise.all([follow(signal), sideLoops.run(signal)]);
    },
    reconcile: async () => (isStarted ? reconcile() : undefined),
    inFlight: workers.inFlight,
    unstored: parts.unstored.count,
    stalled: (ms) => workers.stalledSince(deps.clock.monotonicMs() - ms),
    connectorStatus: (connectorId) => statusIfOpen(outlets.get(connectorId)),
    connectors: () => outlets.all().map(toConnector),
    connectorsOf: (queue) => connectorsOfQueue(configuration, outlets, queue),
    sharedAs: sideLoops.sharedAs,
    noteReceipts: (receipts, results) => noteReceipts(outlets, receipts, results),
    async stop() {
      stopping.abort();
      unsubscribe();
      const cancel = deps.clock.after(GIVE_UP_AFTER_MS, () => givingUp.abort());
      await workers.stop();
      cancel();
      await watching;
      await outlets.stop();
      deps.shares?.leaveConnectors();
    },
  };
}

/** The loops beside the workers: missing receipts, receipts that come over another connector, and stray jobs. */
function createSideLoops(deps: EngineDeps, { outlets, workers, routeOf }: Parts) {
  const { wake } = workers;
  const strayJobs = createStrayJobs({ ...deps, routeOf, outletOf: outlets.get, wake });
  let groups: ReceiptGroups = new Map();
  let firsts: ReadonlyMap<string, string> = new Map();
  const inquiry = { ...deps, channels: () => outlets.all().map(({ channel }) => channel) };
  const sharing: SharedReceiptsDeps = {
    ...deps,
    groups: () => groups,
    onMatched: (receipts, results) => noteReceipts(outlets, receipts, results),
  };
  return {
    reconcile({ connectors, routes }: Configuration): void {
      groups = receiptGroups(connectors);
      firsts = firstOfGroups(groups);
      strayJobs.reconcile(routes);
    },
    sharedAs: (connectorId: string) => firsts.get(connectorId) ?? connectorId,
    run: (signal: AbortSignal) =>
      Promise.all([inquire(inquiry, signal), shareReceipts(sharing, signal), strayJobs.run(signal)]),
  };
}

/** The queue of a route has its id; that of messages which one connector alone may send has the connector's. */
function connectorsOfQueue(
  { routes, connectors }: Configuration,
  outlets: Outlets,
  queue: string,
): readonly QueueConnector[] {
  const ids = routes.find(({ id }) => id === queue)?.connectorIds ?? [queue];
  return ids
    .flatMap((id) => connectors.find((connector) => connector.id === id) ?? [])
    .map(({ id, name }) => ({ name, ...present({ status: statusIfOpen(outlets.get(id)) }) }));
}

function toConnector(outlet: Outlet): WatchedConnector {
  const failing = outlet.failing();
  return { id: outlet.channel.connectorId, status: statusOf(outlet), ...present({ failing }) };
}

function statusIfOpen(outlet: Outlet | undefined): ConnectorStatus | undefined {
  return outlet && statusOf(outlet);
}

function statusOf({ channel, health }: Outlet): ConnectorStatus {
  return { ...channel.status(), health: health() };
}

function noteReceipts(
  outlets: Outlets,
  receipts: readonly Receipt[],
  results: readonly ReceiptResult[],
): void {
  for (const [index, { connectorId, alsoOf = [], providerMessageId }] of receipts.entries()) {
    const messageId = results[index]?.messageId;
    for (const id of [connectorId, ...alsoOf])
      outlets.get(id)?.noteReceipt(present({ providerMessageId, messageId }));
  }
}

interface Parts {
  readonly outlets: Outlets;
  readonly workers: Workers;
  readonly routeOf: RouteOfJob;
  readonly unstored: Unstored;
}

/** The outlets and workers. A worker that finds no free slot waits in the slot line, and outlets wake it. */
function createParts(deps: EngineDeps, current: () => Configuration, signal: AbortSignal): Parts {
  const line = createSlotLine();
  const hasReceipt = byTimeline(deps.messages);
  const outlets = createOutlets({ ...deps, onSlots: line.call, hasReceipt });
  const outletOf = outlets.get;
  const routeOf = createRouteOfJob(() => current().routes, deps.builtIn.routes);
  const unstored = createUnstored({ ...deps, signal });
  const send = createSendMessage({
    ...deps,
    prepare: createPrepare(deps),
    isDeleted: createIsDeleted(deps.records, () => current().connectors),
    outletOf,
    routeOf,
    unstored,
    signal,
  });
  const shared = { ...deps, send, line, outletOf, allOutlets: outlets.all };
  const workers = createWorkers(
    (route) => createWorker({ ...shared, route }),
    (queue) => outletOf(queue) !== undefined,
  );
  return { outlets, workers, routeOf, unstored };
}
