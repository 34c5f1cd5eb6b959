import { type Clock, sleep } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import { type Claimant, MUST_WAIT_MS } from "../core/queue/claimant.ts";
import type { ClaimedJob, ClaimRequest } from "../core/queue/claimed-job.ts";
import { createInFlightJobs, type InFlightJobs } from "../core/queue/in-flight-jobs.ts";
import type { Route } from "../core/records/accounts.ts";
import { createPassing, type Queue } from "../store/store.ts";
import { type Balancer, createBalancer, type Reservation } from "./outlets/balancer.ts";
import { chooseOutlets, placesOf } from "./outlets/choose-outlets.ts";
import type { Outlet } from "./outlets/outlet.ts";
import type { SlotLine } from "./outlets/slot-line.ts";
import type { SendMessage } from "./send-message.ts";

/** The most jobs in one claim: enough to fill a commit, few enough to keep flows mixed. */
const MAX_CLAIM = 500;

/** How much longer a lease is than the slowest send. */
const LEASE_SLACK_MS = 30_000;

/** How often a worker looks at its queue when nothing wakes it. */
const POLL_MS = 1_000;

/** What a worker needs to know of the route whose queue it empties. */
export interface ServedRoute extends Pick<Route, "id" | "connectorIds" | "weights" | "failover"> {
  /** It is no route, but the own queue of its only connector (ADR 40). */
  readonly isOwnQueue?: true;
}

export interface WorkerDeps {
  /** The route as it is now. Its id, which names the queue, never changes. */
  readonly route: () => ServedRoute;
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  /** The outlets of all connectors, also of those that the route does not name. */
  readonly allOutlets: () => readonly Outlet[];
  readonly queue: Queue;
  readonly send: SendMessage;
  readonly line: SlotLine;
  /** On whose behalf it claims now. */
  readonly claimant: () => Claimant;
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Empties one queue: claims no more jobs than the chosen connectors can take now, has them sent, and sleeps until it is woken
 * (jobs became ready, slots became free) or a second has passed. It waits for a connector that is healthy but full, and
 * passes over one that is down or unhealthy.
 *
 * States: idle → turning (one claim under way) → idle. If it is woken during a turn, another turn follows at once.
 */
export interface Worker {
  /** To be called when there may be something to do: a turn follows. */
  wake(): void;
  /** When it last looked for jobs, on the monotonic clock. A turn takes as long as there are jobs, and slots for them. */
  lastLookMs(): number;
  /** Ids of the jobs that are being sent; see `InFlightJobs`. */
  inFlight(): readonly number[];
  /** Claims no more, and resolves when every job in flight is settled. */
  stop(): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const { clock, log } = deps;
  const stopping = new AbortController();
  const inFlight = createInFlightJobs(clock);
  const balancer = createBalancer(clock);
  let turning: Promise<void> | undefined;
  let isWoken = false;
  const looked = { atMs: clock.monotonicMs() };
  let cancelTimer = () => {};

  const wake = () => {
    isWoken = true;
    if (!turning && !stopping.signal.aborted) turning = turns().finally(rest);
  };

  /** After the last turn: sleeps, unless it was woken in between. */
  const rest = () => {
    turning = undefined;
    if (stopping.signal.aborted) return;
    if (isWoken) return wake();
    cancelTimer();
    cancelTimer = clock.after(waitMs(outletsOf(deps)), wake);
  };

  const parts = { inFlight, wake, balancer, signal: stopping.signal, looked };
  const turns = async () => {
    const mayPass = createPassing();
    const failed = (error: unknown) => {
      log.warn({ err: error, queue: deps.route().id }, "a claim failed");
      if (mayPass(error)) isWoken = true;
    };
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      await turn(deps, parts).catch(failed);
    }
  };

  return {
    wake,
    lastLookMs: () => looked.atMs,
    inFlight: inFlight.ids,
    async stop() {
      stopping.abort();
      cancelTimer();
      await turning;
      deps.line.leave(wake);
      await inFlight.whenEmpty();
    },
  };
}

interface TurnParts {
  readonly inFlight: Pick<InFlightJobs, "add">;
  readonly wake: () => void;
  readonly balancer: Balancer;
  /** Aborts when the worker is to claim no more. */
  readonly signal: AbortSignal;
  /** When it last looked for jobs, on the monotonic clock. */
  readonly looked: { atMs: number };
}

/**
 * Claims jobs and has them sent, until the queue is empty or no slot is free. A turn may take long: expired jobs are not sent
 * and free their slots at once, so a long queue of them is claimed in one turn.
 */
async function turn(deps: WorkerDeps, parts: TurnParts): Promise<void> {
  const { inFlight, wake, balancer, signal } = parts;
  while (!signal.aborted) {
    parts.looked.atMs = deps.clock.monotonicMs();
    const { isOurs, mustWait, ...by } = deps.claimant();
    if (mustWait) {
      await sleep(deps.clock, MUST_WAIT_MS, signal);
      continue;
    }
    const route = deps.route();
    const choice = chooseOutlets(placesOf(route, deps.outletOf));
    const reservation = choice && balancer.reserve(choice, MAX_CLAIM);
    if (!reservation) return deps.line.join(wake);
    deps.line.leave(wake);
    const { failover: failoverMode, isOwnQueue } = route;
    const outlets = outletsOf(deps);
    const leaseMs = slowestMs(deps.allOutlets()) + LEASE_SLACK_MS;
    const leaseEndsMs = deps.clock.monotonicMs() + leaseMs;
    const claimed = await claim(deps, reservation, { leaseMs, ...by });
    for (const { job, outlet } of claimed) {
      const lease = { outlet, outlets, leaseEndsMs, isOurs, failoverMode, isOwnQueue };
      inFlight.add(job.jobId, leaseEndsMs, (keep) => deps.send(job, { ...lease, keep }));
    }
    if (claimed.length < reservation.size) return;
  }
}

/**
 * The longest time limit of these outlets. A claimed job may turn out to belong to any of them, even to one that its route no longer
 * names: with a lease too short for that one, it would go back in line unsent at every claim.
 */
function slowestMs(outlets: readonly Outlet[]): number {
  return Math.max(...outlets.map(({ channel }) => channel.sendTimeoutMs));
}

/** A job, and the outlet whose slot it was claimed for. */
interface Claimed {
  readonly job: ClaimedJob;
  readonly outlet: Outlet;
}

async function claim(
  deps: WorkerDeps,
  reservation: Reservation,
  lease: Pick<ClaimRequest, "leaseMs" | "process">,
): Promise<readonly Claimed[]> {
  try {
    const asked = { queue: deps.route().id, limit: reservation.size, now: deps.clock.now(), ...lease };
    const jobs = await deps.queue.claim(asked);
    const claimed: Claimed[] = [];
    for (const job of jobs) {
      // Never undefined: at most as many jobs are claimed as slots are reserved.
      const outlet = reservation.next();
      if (outlet) claimed.push({ job, outlet });
    }
    return claimed;
  } finally {
    reservation.release();
  }
}

function outletsOf({ route, outletOf }: WorkerDeps): readonly Outlet[] {
  return route().connectorIds.flatMap((id) => outletOf(id) ?? []);
}

/** How long until the rate of an outlet allows a message, at most `POLL_MS`. (Slots that become free wake the worker.) */
function waitMs(outlets: readonly Outlet[]): number {
  const waits = outlets.filter((outlet) => outlet.isUp()).map((outlet) => outlet.waitMs());
  return Math.min(POLL_MS, ...waits.filter((ms) => ms > 0));
}
