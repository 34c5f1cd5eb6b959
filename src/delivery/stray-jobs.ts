/**
 * Stray jobs: jobs in a queue that is no route's. Either another process accepted them for a route that was deleted, not knowing of
 * that yet, or they wait in a connector's own queue (ADR 40): there, what is still in line a minute later goes back to a route if the
 * connector is not up, or others may send it by now.
 */
import { type Clock, sleep } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { present } from "../core/present.ts";
import type { JobInLine, PlaceInLine } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import type { MovedJob, Queue, Records } from "../store/store.ts";
import type { RouteOfJob } from "./job-routes.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { ownerOf } from "./outlets/owner-of-job.ts";

/** The time between two rounds. A round looks at the queues of recently deleted routes, every `ALL_EVERY`th at all queues. */
const ROUND_MS = 1_000;
const ALL_EVERY = 60;

/** How long other processes may still use a deleted route; usually a second. */
const RECENTLY_MS = 30_000;

/** The jobs that are read at a time, and the most of a queue in one round. The next round goes on behind them. */
const CHUNK = 200;
const MAX_PER_ROUND = 2_000;

export interface StrayJobsDeps {
  readonly queue: Pick<Queue, "backlog" | "inLine" | "move">;
  readonly records: Pick<Records, "find">;
  readonly clock: Clock;
  readonly log: Pick<Log, "warn">;
  readonly routeOf: RouteOfJob;
  readonly outletOf: (connectorId: string) => Pick<Outlet, "isUp"> | undefined;
  /** Wakes the worker of a connector's own queue. It may have none yet, if its jobs came before this process knew the connector. */
  readonly wake: (queue: string) => void;
}

export interface StrayJobs {
  /** To be called whenever the routes have changed. */
  reconcile(routes: readonly Route[]): void;
  /** Moves stray jobs to the routes that serve their recipients now, until `signal` aborts. Never throws. */
  run(signal: AbortSignal): Promise<void>;
}

export function createStrayJobs(deps: StrayJobsDeps): StrayJobs {
  const { clock, log, queue } = deps;
  let routes: ReadonlySet<string> = new Set();
  /** Deleted routes, and when each was first missing, on the monotonic clock. */
  const goneAt = new Map<string, number>();
  /** Where the last round has stopped in a queue that was too long for it. */
  const stoppedAt = new Map<string, PlaceInLine>();

  const recentlyGone = () => {
    const sinceMs = clock.monotonicMs() - RECENTLY_MS;
    for (const [id, at] of goneAt) if (at < sinceMs) goneAt.delete(id);
    return [...goneAt.keys()];
  };
  const unknownQueues = async () => {
    const backlog = await queue.backlog(1);
    return backlog.flatMap(({ queue: name, ready }) => (ready > 0 && !routes.has(name) ? [name] : []));
  };
  const look = async (isFull: boolean, signal: AbortSignal) => {
    const names = isFull ? await unknownQueues() : recentlyGone();
    if (isFull) forgetOthers(stoppedAt, names);
    for (const name of names) {
      const next = await moveJobs(deps, name, { signal, ...present({ after: stoppedAt.get(name) }) });
      if (next) stoppedAt.set(name, next);
      else stoppedAt.delete(name);
    }
  };

  return {
    reconcile(current) {
      const before = routes;
      routes = new Set(current.map(({ id }) => id));
      for (const id of before) if (!routes.has(id)) goneAt.set(id, clock.monotonicMs());
      for (const id of routes) goneAt.delete(id);
    },
    async run(signal) {
      for (let round = 0; !signal.aborted; round++) {
        await look(round % ALL_EVERY === 0, signal).catch((error) =>
          log.warn({ err: error }, "the queues of no route could not be checked"),
        );
        await sleep(clock, ROUND_MS, signal);
      }
    },
  };
}

/** Only a look at all queues tells which of them have nothing left: a round in between names those of recently deleted routes alone. */
function forgetOthers(stoppedAt: Map<string, PlaceInLine>, names: readonly string[]): void {
  for (const name of stoppedAt.keys()) if (!names.includes(name)) stoppedAt.delete(name);
}

interface MoveOptions {
  readonly after?: PlaceInLine;
  readonly signal: AbortSignal;
}

/**
 * Moves a queue's jobs. Those that no route serves now stay where they are: there may be one before they expire. None is claimed:
 * nothing is sent here, so nothing may seem to have been if this process stops. Returns the place from which to go on.
 */
async function moveJobs(
  deps: StrayJobsDeps,
  name: string,
  { after, signal }: MoveOptions,
): Promise<PlaceInLine | undefined> {
  // The route may be new, and not known to this process yet.
  if ((await deps.records.find("routes", { id: name })) !== undefined) return undefined;
  let place = after;
  let [moved, waiting, isNews] = [0, 0, false];
  for (let seen = 0; seen < MAX_PER_ROUND && !signal.aborted; seen += CHUNK) {
    const jobs = await deps.queue.inLine(name, { limit: CHUNK, ...(place && { after: place }) });
    const moving = jobs.flatMap((job) => toMoved(deps, name, job) ?? []);
    if (moving.length > 0) await deps.queue.move(moving);
    isNews ||= moving.length > 0 && !isOfConnector(deps, name, jobs);
    moved += moving.length;
    waiting += jobs.length - moving.length;
    place = jobs.length < CHUNK ? undefined : jobs.at(-1);
    if (!place) break;
  }
  if (waiting > 0) deps.wake(name);
  if (moved > 0 && isNews) deps.log.warn({ route: name, moved, waiting }, MOVED);
  return place;
}

const MOVED =
  "messages were accepted for a route while it was deleted; those that another route serves are sent over it";

/** `undefined`: no route serves it, or it waits where it should. */
function toMoved(deps: StrayJobsDeps, name: string, job: JobInLine): MovedJob | undefined {
  const route = deps.routeOf(job);
  if (!route || waitsForOwner(deps, { name, job, route })) return undefined;
  return { jobId: job.jobId, claim: job.claim, messageId: job.messageId, queue: route.id };
}

/** Whether the queue is that of the only connector that may send the message, which is up: then its worker sends it in its turn. */
function waitsForOwner(
  { outletOf }: StrayJobsDeps,
  { name, job, route }: { readonly name: string; readonly job: JobInLine; readonly route: Route },
): boolean {
  // What its account's settings say of it is not known here. At worst it goes to the route, and comes back.
  const owner = () => ownerOf({ ...job, settings: {} }, route.failover);
  return outletOf(name)?.isUp() === true && owner() === name;
}

/** Whether the queue is a connector's own, and not a deleted route's: if that is not open, it has one of the messages in part, or may. */
function isOfConnector({ outletOf }: StrayJobsDeps, queue: string, jobs: readonly JobInLine[]): boolean {
  if (outletOf(queue)) return true;
  return jobs.some(({ progress }) => progress.parts.some(({ connectorId }) => connectorId === queue));
}
