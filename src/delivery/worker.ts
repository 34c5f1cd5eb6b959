import type { Clock } from "../core/clock.ts";
import { NOBODY_ELSE } from "../core/queue/claimant.ts";
import type { ClaimedJob, ClaimRequest } from "../core/queue/claimed-job.ts";
import type { Route } from "../core/records/accounts.ts";
import type { Queue } from "../store/store.ts";
import type { DeliveryLog } from "./engine.ts";
import { chooseOutlets, placesOf } from "./outlets/choose-outlets.ts";
import { createDealer, type Dealer, type Hand } from "./outlets/dealer.ts";
import type { Outlet } from "./outlets/outlet.ts";
import type { SlotLine } from "./outlets/slot-line.ts";
import type { Sender } from "./send-message.ts";
import type { Shares } from "./shares/shares.ts";

/** Jobs taken in one claim at the most: enough to fill a commit, few enough to keep flows mixed. */
const MAX_CLAIM = 500;

/** On top of the slowest answer. */
const LEASE_SLACK_MS = 30_000;

/** Without any signal a worker looks at its queue this often. */
const POLL_MS = 1_000;

export interface WorkerDeps {
  /** As it is now; its id, which names the queue, never changes. */
  readonly route: () => Route;
  readonly outletOf: (connectorId: string) => Outlet | undefined;
  readonly queue: Queue;
  readonly send: Sender;
  readonly line: SlotLine;
  /** Absent: this process is the only one. */
  readonly shares?: Pick<Shares, "claimant">;
  readonly clock: Clock;
  readonly log: DeliveryLog;
}

/**
 * Moves one queue: claims no more than the connectors whose turn it is can take, hands the jobs over, and sleeps
 * until a signal (jobs became ready, slots became free) or a second has passed. A connector that is well but full is
 * waited for; one that is down or not well is passed over.
 *
 * States: idle → turning (one claim under way) → idle. A signal during a turn makes another turn follow at once.
 */
export interface Worker {
  /** Something may have become possible: a turn follows. */
  wake(): void;
  /** Slots came free: if a turn is under way, another follows. */
  nudge(): void;
  /** When the loop last turned, on the monotonic clock. */
  lastTurnMs(): number;
  /** Claims no more and resolves when every job in hand has its verdict. */
  stop(): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const { clock } = deps;
  const inHand = createInHand(deps.send);
  const dealer = createDealer();
  let turning: Promise<void> | undefined;
  let isWoken = false;
  let isStopped = false;
  let lastTurnMs = clock.monotonicMs();
  let cancelTimer = () => {};

  const wake = () => {
    isWoken = true;
    if (!turning && !isStopped) turning = turns().finally(rest);
  };

  const rest = () => {
    turning = undefined;
    if (isStopped) return;
    if (isWoken) return wake();
    cancelTimer();
    cancelTimer = clock.after(Math.min(POLL_MS, rateWaitMs(outletsOf(deps))), wake);
  };

  const turns = async () => {
    while (isWoken && !isStopped) {
      isWoken = false;
      lastTurnMs = clock.monotonicMs();
      await turn(deps, { hold: inHand.hold, wake, dealer }).catch((error) =>
        deps.log.warn({ err: error, queue: deps.route().id }, "a claim failed"),
      );
    }
  };

  return {
    wake,
    nudge() {
      if (turning) isWoken = true;
    },
    lastTurnMs: () => lastTurnMs,
    async stop() {
      isStopped = true;
      cancelTimer();
      await turning;
      deps.line.leave(wake);
      await inHand.whenEmpty();
    },
  };
}

/** The jobs that are being sent. */
function createInHand(send: Sender) {
  const inHand = new Set<Promise<void>>();
  return {
    hold(...handed: Parameters<Sender>): void {
      const work = send(...handed);
      inHand.add(work);
      void work.then(() => inHand.delete(work));
    },
    whenEmpty: async () => void (await Promise.all(inHand)),
  };
}

interface Turning {
  readonly hold: (...handed: Parameters<Sender>) => void;
  readonly wake: () => void;
  readonly dealer: Dealer;
}

/** One claim, and everything it brought handed to the sender. Goes on while the queue gives as many as were asked for. */
async function turn(deps: WorkerDeps, { hold, wake, dealer }: Turning): Promise<void> {
  for (;;) {
    const route = deps.route();
    const choice = chooseOutlets(placesOf(route, deps.outletOf));
    const hand = choice && dealer.open(choice, MAX_CLAIM);
    if (!hand) return deps.line.join(wake);
    deps.line.leave(wake);
    const outlets = outletsOf(deps);
    const leaseMs = slowestMs(outlets) + LEASE_SLACK_MS;
    const leaseEndsMs = deps.clock.monotonicMs() + leaseMs;
    const { isOurs, ...by } = deps.shares?.claimant() ?? NOBODY_ELSE;
    const dealt = await claim(deps, hand, { leaseMs, ...by });
    for (const { job, outlet } of dealt)
      hold(job, { outlet, outlets, leaseEndsMs, isOurs, failover: route.failover });
    if (dealt.length < hand.size) return;
  }
}

/** A job may turn out to be for another connector of the route than the one it was claimed for. */
function slowestMs(outlets: readonly Outlet[]): number {
  return Math.max(...outlets.map(({ channel }) => channel.sendTimeoutMs));
}

interface Dealt {
  readonly job: ClaimedJob;
  readonly outlet: Outlet;
}

async function claim(
  deps: WorkerDeps,
  hand: Hand,
  lease: Pick<ClaimRequest, "leaseMs" | "process">,
): Promise<readonly Dealt[]> {
  try {
    const asked = { queue: deps.route().id, limit: hand.size, now: deps.clock.now(), ...lease };
    const jobs = await deps.queue.claim(asked);
    const dealt: Dealt[] = [];
    for (const job of jobs) {
      const outlet = hand.deal();
      if (outlet) dealt.push({ job, outlet });
    }
    return dealt;
  } finally {
    hand.close();
  }
}

function outletsOf({ route, outletOf }: WorkerDeps): readonly Outlet[] {
  return route().connectorIds.flatMap((id) => outletOf(id) ?? []);
}

function rateWaitMs(outlets: readonly Outlet[]): number {
  const waits = outlets.filter((outlet) => outlet.isUp()).map((outlet) => outlet.waitMs());
  const shortest = Math.min(...waits);
  return Number.isFinite(shortest) && shortest > 0 ? shortest : POLL_MS;
}
