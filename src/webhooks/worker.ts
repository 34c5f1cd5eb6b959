import { type Clock, sleep } from "../core/clock.ts";
import { type Claimant, MUST_WAIT_MS } from "../core/queue/claimant.ts";
import { createInFlightJobs } from "../core/queue/in-flight-jobs.ts";
import type { ClaimedWebhook, Lane } from "../core/webhooks/webhook-outbox.ts";
import { createPassing, type Outbox } from "../store/store.ts";
import type { DeliverEvent, PutBack, WebhookLease } from "./deliver-event.ts";
import { laneKey } from "./lanes/lane-key.ts";
import type { LaneQueue, QueuedLane } from "./lanes/lane-queue.ts";
import type { Lanes, Permit } from "./lanes/lanes.ts";

/** The most events of a claim, those to choose from aside: enough to fill a commit, few enough to keep lanes mixed. */
const MAX_CLAIM = 256;

/**
 * How many of the newest events one is chosen from where URLs of the host fail. The others are put back. One lane of a claim has
 * the choice: else hundreds whose pauses end together would keep all other lanes waiting for as many times the work.
 */
const CHOICE = 64;

/** Longer than the slowest delivery (15 s) and the commits around it. */
const LEASE_MS = 60_000;

/** How long to wait after a claim that failed. */
const PAUSE_MS = 1_000;

export interface WorkerDeps {
  readonly outbox: Pick<Outbox, "claim">;
  readonly queue: LaneQueue;
  readonly lanes: Lanes;
  readonly deliverEvent: DeliverEvent;
  readonly putBack: PutBack;
  /** Asked before each claim. */
  readonly claimant: () => Claimant;
  readonly clock: Clock;
  /** Called when a claim fails. It is made again after a second. */
  readonly onError: (error: unknown) => void;
}

/**
 * Claims events for the lanes that may have some, as many as there is room for, and has them delivered. Room is taken
 * before the claim, so that every claimed event can be delivered at once.
 *
 * States: idle → turning (one claim under way) → idle. A wake during a turn makes another turn follow.
 */
export interface Worker {
  /** To be called when there may be something to claim, or room. A turn follows. */
  wake(): void;
  /** How many events are claimed and not yet settled. */
  underWay(): number;
  /** The ids of events under way; see `InFlightJobs`. */
  inFlight(): readonly number[];
  /** Claims no more, and resolves when all events under way are settled. */
  stop(): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const stopping = new AbortController();
  const inFlight = createInFlightJobs(deps.clock);
  let turning: Promise<void> | undefined;
  let isWoken = false;

  const start: Start = (webhook, permit, until) => {
    inFlight.add(webhook.id, until.endsMs, (keep) => {
      const lease = { ...until, keep };
      return permit ? deps.deliverEvent(webhook, permit, lease) : deps.putBack(webhook, lease);
    });
  };
  const turns = async () => {
    const mayPass = createPassing();
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      try {
        while (!stopping.signal.aborted && (await turn(deps, start, stopping.signal)));
      } catch (error) {
        deps.onError(error);
        isWoken = true;
        if (!mayPass(error)) await sleep(deps.clock, PAUSE_MS, stopping.signal);
      }
    }
    turning = undefined;
  };

  return {
    wake() {
      isWoken = true;
      turning ??= turns();
    },
    underWay: inFlight.count,
    inFlight: inFlight.ids,
    async stop() {
      stopping.abort();
      await turning;
      await inFlight.whenEmpty();
    },
  };
}

/** Begins to deliver an event, or without a permit to put it back. */
type Start = (webhook: ClaimedWebhook, permit: Permit | undefined, lease: Omit<WebhookLease, "keep">) => void;

/** One claim, or a wait until one may be made. False if there is no lane to claim for, or no room. */
async function turn(deps: WorkerDeps, start: Start, stopping: AbortSignal): Promise<boolean> {
  const { outbox, clock, queue } = deps;
  const { isOurs, mustWait, ...by } = deps.claimant();
  if (mustWait) {
    await sleep(clock, MUST_WAIT_MS, stopping);
    return true;
  }
  const reservations = reserve(deps);
  if (reservations.length === 0) return false;
  // Counted from before the claim, so that the lease never ends here after it has ended in the store.
  const endsMs = clock.monotonicMs() + LEASE_MS;
  const wanted = reservations.map(({ queued, permits, limit }) => ({
    lane: queued.lane,
    limit,
    isNewestFirst: permits.some(({ isForNewest }) => isForNewest),
  }));
  try {
    const claimed = await outbox.claim({ lanes: wanted, now: clock.now(), leaseMs: LEASE_MS, ...by });
    for (const { webhook, permit } of assign(claimed, reservations, queue)) {
      start(webhook, permit, { endsMs, isOurs });
    }
  } finally {
    // Permits for which no event was found; all of them, if the claim has failed.
    for (const { permits } of reservations)
      for (const permit of permits) permit.release({ kind: "unknown" }, 0);
  }
  return true;
}

/** Room taken for the events of one lane. */
interface Reservation {
  readonly queued: QueuedLane;
  /** `QueuedLane.additions` when the room was taken. */
  readonly additions: number;
  readonly permits: Permit[];
  /** How many events to claim for them. */
  readonly limit: number;
}

/** Goes once through the eligible lanes and takes the room that there is, for at most `MAX_CLAIM` events. */
function reserve({ queue, lanes }: WorkerDeps): readonly Reservation[] {
  const reservations: Reservation[] = [];
  let left = MAX_CLAIM;
  let hasChoice = false;
  // Without a count, the lanes moved to the back would come again.
  let lanesLeft = queue.eligible().size;
  for (const queued of queue.eligible()) {
    if (left === 0 || lanesLeft-- === 0) break;
    const permits = acquireSome(lanes, queued.lane, left);
    left -= permits.length;
    if (permits.length === 0) {
      queue.setAside(queued, lanes.isCrowdedOut(queued.lane));
      continue;
    }
    const isChoice: boolean = !hasChoice && permits.some(({ avoids }) => avoids);
    hasChoice ||= isChoice;
    const limit = isChoice ? CHOICE : permits.length;
    reservations.push({ queued, additions: queued.additions, permits, limit });
    queue.moveToBack(queued);
  }
  return reservations;
}

/** Acquires as many permits as there is room for, but at most `most`. */
function acquireSome(lanes: Lanes, lane: Lane, most: number): Permit[] {
  const permits: Permit[] = [];
  while (permits.length < most) {
    const permit = lanes.acquire(lane);
    if (!permit) break;
    permits.push(permit);
  }
  return permits;
}

/** Takes a permit of its lane for each event, as long as there are some. A lane with fewer events than permits is drained. */
function assign(
  claimed: readonly ClaimedWebhook[],
  reservations: readonly Reservation[],
  queue: LaneQueue,
): readonly { readonly webhook: ClaimedWebhook; readonly permit: Permit | undefined }[] {
  const byLane = Map.groupBy(claimed, ({ lane }) => laneKey(lane));
  return reservations.flatMap(({ queued, additions, permits }) => {
    const webhooks = byLane.get(laneKey(queued.lane)) ?? [];
    if (webhooks.length < permits.length) queue.drained(queued, additions);
    return inOrder(webhooks, permits).map((webhook) => ({ webhook, permit: permits.pop() }));
  });
}

/** Those to be delivered first: where URLs are avoided, the newest of another one. */
function inOrder(webhooks: readonly ClaimedWebhook[], permits: readonly Permit[]): readonly ClaimedWebhook[] {
  const avoids = permits.find((permit) => permit.avoids)?.avoids;
  if (!avoids) return webhooks;
  return webhooks.toSorted(
    (one, other) => Number(avoids(one.url)) - Number(avoids(other.url)) || other.id - one.id,
  );
}
