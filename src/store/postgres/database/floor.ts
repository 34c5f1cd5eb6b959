import type { Clock } from "../../../core/clock.ts";

/** Where looks for rows may begin that come in the order of their ids, if none of those that were found before come again. */
export interface Floor {
  /** The highest id that was reached so long ago that nothing before it is still to be committed; 0 at first. */
  id(): number;
  /** To be called with what was reached. */
  reach(id: number): void;
}

/** @param lagMs how long a transaction may take that has drawn ids and commits them */
export function createFloor(clock: Pick<Clock, "monotonicMs">, lagMs: number): Floor {
  let floor = 0;
  let next = 0;
  let highest = 0;
  let sinceMs = Number.NEGATIVE_INFINITY;
  return {
    id: () => floor,
    reach(id) {
      const nowMs = clock.monotonicMs();
      if (nowMs - sinceMs >= lagMs) {
        floor = next;
        next = highest;
        sinceMs = nowMs;
      }
      highest = Math.max(highest, id);
    },
  };
}
