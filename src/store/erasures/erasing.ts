import { errorText } from "../../core/error-text.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { isOutage, RowPutOff } from "../outage.ts";
import { createPutOffRows } from "../pass-over.ts";
import type { ErasureRow } from "./erasure-work.ts";

/** How long an erasure of which something is left waits before it is tried again from there on. */
const AGAIN_MS = HOUR_MS;

/** Which walk an erasure has reached, and where that stands. */
export type Place = Pick<ErasureRow, "walk" | "position">;

interface Erasing {
  readonly now: number;
  /** About how many rows to examine. */
  readonly looks: number;
  /** Goes a stretch further with the oldest erasure that does not wait, or completes it if all walks are over. */
  erase(looks: number, parts: ErasingParts): Promise<Erased>;
}

export interface ErasingParts {
  /** Ids of erasures that wait. */
  readonly waiting: readonly string[];
  /** To be called with the erasure's row, as it is stored, before anything fails. */
  readonly take: (stored: ErasureRow) => TakenErasure;
}

interface TakenErasure {
  /** With the place from which to go on. */
  readonly row: ErasureRow;
  /** Present if something before that place is left: then this stays the place that is stored, and the erasure is not completed. */
  readonly kept?: Place;
}

/** What `Erasures.advance` did. */
export interface Erased {
  readonly moved: number;
  /** The place that was reached; absent, if something was done: all walks were over. */
  readonly reached?: Place;
}

interface Passing {
  /** Where something is left. */
  readonly kept: Place;
  readonly at: Place;
}

/**
 * Makes a function that goes on with erasures, and passes over rows that cannot be erased: a stretch that fails is made shorter and shorter,
 * and then the rest of its walk is left for the next time. What is stored says so: the erasure stands where it failed, while this
 * process goes on behind that, and an hour after the end begins again there. So no process completes it, of the previous version either,
 * and it keeps no other waiting.
 */
export function createErasing(): (erasing: Erasing) => Promise<number> {
  const waits = createPutOffRows<string>();
  const passing = new Map<string, Passing>();
  const takeUp = (stored: ErasureRow): TakenErasure => {
    const passed = passing.get(stored.id);
    if (passed && isSamePlace(passed.kept, stored))
      return { row: { ...stored, ...passed.at }, kept: passed.kept };
    // Another process may have erased what was left.
    passing.delete(stored.id);
    return { row: stored };
  };
  const goOn = ({ row: { id }, kept }: TakenErasure, { moved, reached }: Erased, now: number) => {
    if (!kept) return;
    if (reached) passing.set(id, { kept, at: reached });
    else if (moved > 0 && passing.delete(id)) waits.add(id, now + AGAIN_MS);
  };
  return async ({ now, looks, erase }) => {
    const waiting = waits.ids(now);
    for (let most = looks; ; most = Math.ceil(most / 8)) {
      let taken: TakenErasure | undefined;
      const take = (stored: ErasureRow) => {
        taken = takeUp(stored);
        return taken;
      };
      try {
        const erased = await erase(most, { waiting, take });
        if (taken) goOn(taken, erased, now);
        return erased.moved;
      } catch (error) {
        if (isOutage(error) || !taken) throw error;
        if (most > 1) continue;
        const { row, kept = placeOf(row) } = taken;
        passing.set(row.id, { kept, at: { walk: row.walk + 1, position: "" } });
        throw new RowPutOff(`erasure ${row.id}, a part of it put off: ${errorText(error)}`);
      }
    }
  };
}

function placeOf({ walk, position }: Place): Place {
  return { walk, position };
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.walk === other.walk && one.position === other.position;
}
