import { type Clock, sleep } from "../core/clock.ts";
import type { Claimant } from "../core/queue/claimant.ts";
import { createHolds } from "../core/queue/holds.ts";
import type { ClaimedWebhook, Lane } from "../core/webhooks/webhook-outbox.ts";
import type { Outbox } from "../store/store.ts";
import type { Agenda, Item } from "./lanes/agenda.ts";
import { laneKey } from "./lanes/lane-key.ts";
import type { Lanes, Pass } from "./lanes/lanes.ts";

/** Events per claim: enough to fill a commit, few enough to keep lanes mixed. */
const MAX_CLAIM = 256;

/** Longer than the slowest delivery (15 s) and the commits around it. */
const LEASE_MS = 60_000;

/** The wait after a claim that failed. */
const PAUSE_MS = 1_000;

/** Delivers one event and settles it. Never rejects, and always leaves the pass. */
export type Carry = (webhook: ClaimedWebhook, pass: Pass, lease: Lease) => Promise<void>;

export interface Lease extends Pick<Claimant, "isOurs"> {
  /** When it ends, on the monotonic clock. */
  readonly endsMs: number;
}

export interface WorkerDeps {
  readonly outbox: Pick<Outbox, "claim">;
  readonly agenda: Agenda;
  readonly lanes: Lanes;
  readonly carry: Carry;
  readonly claimant: () => Claimant;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/**
 * Claims events for the lanes that may have some, as many as there is room for, and carries them out. Room is taken before
 * the claim, so that every claimed event can be delivered at once.
 *
 * States: idle → turning (one claim under way) → idle. A wake during a turn makes another turn follow.
 */
export interface Worker {
  wake(): void;
  /** Events claimed and not yet settled. */
  underWay(): number;
  /** Their ids; see `Holds`. */
  held(): readonly number[];
  /** Claims no more, and resolves when all events under way are settled. */
  stop(): Promise<void>;
}

export function createWorker(deps: WorkerDeps): Worker {
  const stopping = new AbortController();
  const underWay = new Set<Promise<void>>();
  const holds = createHolds(deps.clock);
  let turning: Promise<void> | undefined;
  let isWoken = false;

  const start: Start = (webhook, pass, lease) => {
    const letGo = holds.hold(webhook.id, lease.endsMs);
    const work = deps.carry(webhook, pass, lease).finally(() => {
      underWay.delete(work);
      letGo();
    });
    underWay.add(work);
  };
  const turns = async () => {
    while (isWoken && !stopping.signal.aborted) {
      isWoken = false;
      try {
        while (!stopping.signal.aborted && (await turn(deps, start)));
      } catch (error) {
        deps.onError(error);
        await sleep(deps.clock, PAUSE_MS, stopping.signal);
        isWoken = true;
      }
    }
    turning = undefined;
  };

  return {
    wake() {
      isWoken = true;
      turning ??= turns();
    },
    underWay: () => underWay.size,
    held: holds.ids,
    async stop() {
      stopping.abort();
      await turning;
      await Promise.all(underWay);
    },
  };
}

type Start = (...args: Parameters<Carry>) => void;

/** One claim, if there is anything to claim for. */
async function turn(deps: WorkerDeps, start: Start): Promise<boolean> {
  const { outbox, clock } = deps;
  const picks = pick(deps);
  if (picks.length === 0) return false;
  const endsMs = clock.monotonicMs() + LEASE_MS;
  const { isOurs, ...by } = deps.claimant();
  const wanted = picks.map(({ item, passes }) => ({ lane: item.lane, limit: passes.length }));
  try {
    const claimed = await outbox.claim({ lanes: wanted, now: clock.now(), leaseMs: LEASE_MS, ...by });
    for (const { webhook, pass } of match(picks, claimed, deps.agenda)) {
      start(webhook, pass, { endsMs, isOurs });
    }
  } finally {
    for (const { passes } of picks) for (const pass of passes) pass.leave({ kind: "unknown" }, 0);
  }
  return true;
}

/** Gives each event a pass of its lane. A lane with fewer events than it has passes is drained. */
function match(
  picks: readonly Picked[],
  claimed: readonly ClaimedWebhook[],
  agenda: Agenda,
): readonly { readonly webhook: ClaimedWebhook; readonly pass: Pass }[] {
  const byLane = Map.groupBy(claimed, ({ lane }) => laneKey(lane));
  return picks.flatMap(({ item, heard, passes }) => {
    const webhooks = byLane.get(laneKey(item.lane)) ?? [];
    if (webhooks.length < passes.length) agenda.drained(item, heard);
    return webhooks.flatMap((webhook) => {
      const pass = passes.pop();
      return pass ? { webhook, pass } : [];
    });
  });
}

interface Picked {
  readonly item: Item;
  readonly heard: number;
  readonly passes: Pass[];
}

/** Goes once through the open lanes and takes the room there is. */
function pick({ agenda, lanes }: WorkerDeps): readonly Picked[] {
  const picks: Picked[] = [];
  let left = MAX_CLAIM;
  // Without a count, the lanes moved to the back would come again.
  let lanesLeft = agenda.open().size;
  for (const item of agenda.open()) {
    if (left === 0 || lanesLeft-- === 0) break;
    const passes = enter(lanes, item.lane, left);
    left -= passes.length;
    if (passes.length === 0) {
      agenda.park(item, lanes.isCrowdedOut(item.lane));
      continue;
    }
    picks.push({ item, heard: item.heard, passes });
    agenda.toBack(item);
  }
  return picks;
}

function enter(lanes: Lanes, lane: Lane, most: number): Pass[] {
  const passes: Pass[] = [];
  while (passes.length < most) {
    const pass = lanes.enter(lane);
    if (!pass) break;
    passes.push(pass);
  }
  return passes;
}
