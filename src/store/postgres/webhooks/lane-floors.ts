import type { Clock } from "../../../core/clock.ts";
import type { ClaimedLane } from "../../store.ts";
import { createFloor, type Floor } from "../database/floor.ts";
import type { Database } from "../database/transactions.ts";
import { createWholeLooks } from "../queue/whole-looks.ts";

/** For how many lanes to remember how far they were claimed: those that were claimed last. */
const MAX_LANES = 1_000;

/** Longer than it takes to commit new events. */
const LAG_MS = 10_000;

/**
 * Where a claim begins to look for the events of each lane: at the start, or, where looks from there are slow, some seconds behind what was
 * claimed last; see `WholeLooks`. Then an event that is in line again from before that place, for example since it is tried again, is
 * found a little later.
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
  const floors = new Map<string, Floor>();
  const wholeLooks = createWholeLooks(clock);
  /** Lanes that are to be looked at from their start at their next claim. */
  let pending = new Set<string>();
  /** The highest id that was found. */
  let highest = 0;
  // A server that lacks the last transactions gives ids anew.
  db.onOtherServer(() => {
    floors.clear();
    highest = 0;
  });
  const reach = (key: string, id: number) => {
    const floor = floors.get(key) ?? createFloor(clock, LAG_MS);
    floor.reach(id);
    floors.delete(key);
    floors.set(key, floor);
    const [first] = floors.keys();
    if (floors.size > MAX_LANES && first !== undefined) floors.delete(first);
  };
  return {
    startOf(lanes) {
      if (wholeLooks.isDue()) {
        wholeLooks.begin();
        pending = new Set(floors.keys());
      }
      const keys = lanes.map(keyOf);
      return keys.map((key) => (pending.has(key) ? 0 : (floors.get(key)?.id() ?? 0)));
    },
    async timed(lanes, look) {
      if (!lanes.some((lane) => pending.has(keyOf(lane)))) return look();
      return wholeLooks.timed(look).catch((error) => {
        // It may fail each time, as where it takes longer than a statement may.
        pending.clear();
        throw error;
      });
    },
    note(lanes, found) {
      highest = Math.max(highest, ...found.flat());
      for (const [index, lane] of lanes.entries()) {
        const ids = found[index] ?? [];
        const isDrained = ids.length < lane.limit;
        // The newest say nothing about what is before them.
        if (lane.isNewestFirst && !isDrained) continue;
        pending.delete(keyOf(lane));
        reach(keyOf(lane), isDrained ? highest : Math.max(...ids));
      }
    },
  };
}

function keyOf({ lane: { accountId, host } }: ClaimedLane): string {
  return `${accountId} ${host}`;
}
