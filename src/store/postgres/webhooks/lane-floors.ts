import type { Clock } from "../../../core/clock.ts";
import { remember } from "../../../core/work/remember.ts";
import type { ClaimedLane } from "../../store.ts";
import { createFloor, type Floor } from "../database/floor.ts";
import type { Database } from "../database/transactions.ts";
import { createWholeLooks, SLOW_MS } from "../queue/whole-looks.ts";

/** For how many lanes to remember how far they were claimed: those that were claimed last. */
const MAX_LANES = 1_000;

/** Longer than it takes to commit new events. */
const LAG_MS = 10_000;

/**
 * Where a claim begins to look for the events of each lane: at the start, or, where looks from there are slow, some seconds behind what was
 * claimed last; see `WholeLooks`. Then an event that is in line again from before that place, for example since it is tried again, is
 * found a little later. Where a look from the start finds as many as it wanted, the next ones go on behind these, until none is left before
 * that place: thousands may be in line again at once, by a replay, or when a host is back.
 */
export interface LaneFloors {
  /** For each lane the id behind which to look. */
  startOf(lanes: readonly ClaimedLane[]): readonly number[];
  /** Runs a claim's look for the events of the lanes. */
  timed<T>(lanes: readonly ClaimedLane[], look: () => Promise<T>): Promise<T>;
  /** To be called after the commit of a claim. `found`: the ids that were found of each lane. */
  note(lanes: readonly ClaimedLane[], found: readonly (readonly number[])[]): void;
}

export function createLaneFloors(db: Pick<Database, "onOtherServer">, clock: Clock): LaneFloors {
  const known = createKnownLanes(clock);
  const wholeLooks = createWholeLooks(clock);
  /** Lanes that are to be looked at from their start at their next claim. */
  let pending = new Set<string>();
  // A server that lacks the last transactions gives ids anew.
  db.onOtherServer(known.clear);
  return {
    startOf(lanes) {
      if (wholeLooks.isDue()) {
        wholeLooks.begin();
        pending = new Set(known.keys());
      }
      const keys = lanes.map(keyOf);
      return keys.map((key) => (pending.has(key) ? 0 : known.startOf(key)));
    },
    async timed(lanes, look) {
      const keys = lanes.map(keyOf);
      const isWhole = keys.some((key) => pending.has(key));
      if (!isWhole && !keys.some(known.goesOn)) return look();
      // Those that go on find events at once, but the last one, which passes over what is done.
      return wholeLooks.timed(look, isWhole ? 0 : SLOW_MS).catch((error) => {
        // It may fail each time, as where it takes longer than a statement may.
        pending.clear();
        known.goOnNowhere();
        throw error;
      });
    },
    note(lanes, found) {
      known.find(found.flat());
      for (const [index, lane] of lanes.entries()) {
        const ids = found[index] ?? [];
        const isDrained = ids.length < lane.limit;
        // The newest say nothing about what is before them.
        if (lane.isNewestFirst && !isDrained) continue;
        pending.delete(keyOf(lane));
        known.reach(keyOf(lane), isDrained ? undefined : Math.max(...ids));
      }
    },
  };
}

function keyOf({ lane: { accountId, host } }: ClaimedLane): string {
  return `${accountId} ${host}`;
}

interface KnownLane {
  readonly floor: Floor;
  /** The id behind which the look from the start goes on; absent once it has come to the floor. */
  readonly goesOnAt?: number | undefined;
}

function createKnownLanes(clock: Clock) {
  const lanes = new Map<string, KnownLane>();
  /** The highest id that was found. */
  let highest = 0;
  return {
    keys: () => lanes.keys(),
    startOf(key: string): number {
      const lane = lanes.get(key);
      return lane?.goesOnAt ?? lane?.floor.id() ?? 0;
    },
    goesOn: (key: string) => lanes.get(key)?.goesOnAt !== undefined,
    goOnNowhere() {
      for (const [key, { floor }] of lanes) lanes.set(key, { floor });
    },
    find(ids: readonly number[]): void {
      highest = Math.max(highest, ...ids);
    },
    /** @param last of the events that were found, if there may be more behind it */
    reach(key: string, last: number | undefined): void {
      const floor = lanes.get(key)?.floor ?? createFloor(clock, LAG_MS);
      floor.reach(last ?? highest);
      const goesOnAt = last !== undefined && last < floor.id() ? last : undefined;
      remember(lanes, [key, { floor, goesOnAt }], MAX_LANES);
    },
    clear() {
      lanes.clear();
      highest = 0;
    },
  };
}
