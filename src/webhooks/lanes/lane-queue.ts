import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { laneKey } from "./lane-key.ts";

/**
 * The lanes that may have ready events, as far as this process has heard, in the order in which the worker claims for them.
 *
 * A lane is *eligible* until a claim empties it, or it turns out to have no room. Then it is set aside until `addRoom` or the
 * next `add`. If other lanes take all the room, it is set aside until its turn comes. So a thousand paused hosts do not slow
 * claims down.
 */
export interface LaneQueue {
  /** The lane may have a new ready event. Ignored while there is no room for its account: polling finds such lanes later. */
  add(lane: Lane): void;
  /**
   * To be called when a delivery of the lane, or its pause, has ended: the lane may have room, and after a delivery there is one more
   * place for all others.
   */
  addRoom(lane: Lane): void;
  /** The lanes to claim for, the one that has waited longest first. A live view: it follows all changes. */
  eligible(): ReadonlySet<QueuedLane>;
  /** To be called when room was found for the lane: it becomes the last of the eligible ones. */
  moveToBack(queued: QueuedLane): void;
  /** To be called when the lane has no room. `isCrowdedOut`: it would have some if it were the only lane. */
  setAside(queued: QueuedLane, isCrowdedOut: boolean): void;
  /**
   * To be called when a claim found fewer events than it asked for: the lane is empty, and is forgotten. Does nothing if
   * the lane was added again after the claim began. `additions`: what `QueuedLane.additions` was when the claim began.
   */
  drained(queued: QueuedLane, additions: number): void;
  /** How many lanes are known, eligible or not. */
  size(): number;
}

export interface QueuedLane {
  readonly lane: Lane;
  /** How often the lane was added since it became known. */
  readonly additions: number;
}

const MAX_LANES = 50_000;

/**
 * One account may have at most this many times as many lanes as there is still room for: alone it gets four fifths, and the next
 * account finds room (as in `slots.ts`). Lanes of hosts that are paused stay known for as long as their events wait.
 */
const SHARE = 4;

/** @param maxLanes how many lanes may be known at a time */
export function createLaneQueue(maxLanes = MAX_LANES): LaneQueue {
  const known = new Map<string, Entry>();
  const perAccount = createTally();
  const eligible = new Set<QueuedLane>();
  const crowdedOut = createCrowdedOut(eligible);

  const hasRoomFor = ({ accountId }: Lane) => perAccount.of(accountId) < SHARE * (maxLanes - known.size);
  const learn = (lane: Lane): Entry | undefined => {
    if (!hasRoomFor(lane)) return undefined;
    const entry = { lane, additions: 0 };
    known.set(laneKey(lane), entry);
    perAccount.change(lane.accountId, 1);
    return entry;
  };

  return {
    add(lane) {
      const entry = known.get(laneKey(lane)) ?? learn(lane);
      if (!entry) return;
      entry.additions++;
      if (!crowdedOut.has(entry)) eligible.add(entry);
    },
    addRoom(lane) {
      // Others first: the lane whose delivery has ended would take the place again and again.
      crowdedOut.wakeSome();
      const entry = known.get(laneKey(lane));
      if (entry) eligible.add(entry);
    },
    eligible: () => eligible,
    moveToBack(queued) {
      crowdedOut.remove(queued);
      if (eligible.delete(queued)) eligible.add(queued);
    },
    setAside(queued, isCrowdedOut) {
      eligible.delete(queued);
      if (isCrowdedOut) crowdedOut.add(queued);
      else crowdedOut.remove(queued);
    },
    drained(queued, additions) {
      if (queued.additions !== additions) return;
      eligible.delete(queued);
      crowdedOut.remove(queued);
      if (known.delete(laneKey(queued.lane))) perAccount.change(queued.lane.accountId, -1);
    },
    size: () => known.size,
  };
}

/** Counts by name, and forgets names whose count is 0. */
function createTally() {
  const counts = new Map<string, number>();
  const of = (name: string) => counts.get(name) ?? 0;
  return {
    of,
    change(name: string, by: 1 | -1) {
      const count = of(name) + by;
      if (count === 0) counts.delete(name);
      else counts.set(name, count);
    },
  };
}

/** How many crowded-out lanes become eligible for each place that comes free: some that have waited longest, and some others. */
const WOKEN_FROM_FRONT = 4;
const WOKEN_IN_ROTATION = 4;

/** The lanes that others crowd out, in the order in which they were set aside. A lane keeps its turn until there is room for it. */
function createCrowdedOut(eligible: Set<QueuedLane>) {
  const waiting = new Set<QueuedLane>();
  let rotation = waiting.values();

  return {
    has: (queued: QueuedLane) => waiting.has(queued),
    /** Adds it at the end, unless it waits already. */
    add: (queued: QueuedLane) => void waiting.add(queued),
    remove: (queued: QueuedLane) => void waiting.delete(queued),
    /**
     * Makes a few lanes eligible. Those in front may be unable to use the place, because their account has too many under
     * way. So some of the others get a chance too, in rotation.
     */
    wakeSome() {
      let left = WOKEN_FROM_FRONT;
      for (const queued of waiting) {
        if (left === 0) break;
        if (eligible.has(queued)) continue;
        eligible.add(queued);
        left--;
      }
      for (let others = WOKEN_IN_ROTATION; others > 0; others--) {
        const { value, done } = rotation.next();
        if (done) rotation = waiting.values();
        else eligible.add(value);
      }
    },
  };
}

interface Entry extends QueuedLane {
  additions: number;
}
