import { errorText } from "../../core/error-text.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { isOutage, RowPutOff } from "../outage.ts";
import { createPutOffRows } from "../pass-over.ts";
import type { ErasureRow, Stretch } from "./erasure-work.ts";

/** How long an erasure of which something is left waits before it is tried again from there on. */
const AGAIN_MS = HOUR_MS;

/** After so many rows that failed, each further one makes the rest of its walk wait: the table as a whole may be at fault. */
const MAX_PASSED = 1_000;

/** The time between two reports of one erasure that passes things over: each row of a walk may fail, for the same reason. */
const TELL_EVERY_MS = MINUTE_MS;

/** Which walk an erasure has reached, and where that stands. */
type Place = Pick<ErasureRow, "walk" | "position">;

interface Erasing {
  readonly now: number;
  /** About how many rows to examine. */
  readonly looks: number;
  /** Goes a stretch further with the oldest erasure that does not wait, or ends it if all walks are over. */
  erase(looks: number, parts: ErasingParts): Promise<Erased>;
}

export interface ErasingParts {
  /** Ids of erasures that wait. */
  readonly waiting: readonly string[];
  /** To be called with the erasure's row, as it is stored, before anything fails. */
  readonly take: (stored: ErasureRow) => TakenErasure;
}

export interface TakenErasure {
  /** With the place from which to go on. */
  readonly row: ErasureRow;
  /** Present if something before that place is left: then the erasure is not completed. */
  readonly left?: Left;
  /**
   * To be called with the position behind a stretch before anything of it is changed or read that may fail; `undefined`: the walk is over
   * then. A stretch of one row that fails is passed over up to there, and without a call the rest of the walk is.
   */
  readonly goesOnAt: (position: string | undefined) => void;
  /** To be called if all walks are over, before that is stored. */
  readonly ends: () => void;
}

/** What an erasure has passed over. */
export interface Left {
  /** The first place at which something is left. It stays the one that is stored. */
  readonly place: Place;
  /** How many times something was passed over. */
  readonly count: number;
}

/** What `Erasures.advance` did. */
export interface Erased {
  readonly moved: number;
  /** The place that was reached; absent, if something was done: all walks were over. */
  readonly reached?: Place;
}

interface Passing {
  readonly left: Left;
  readonly at: Place;
  readonly told: Told;
}

/** What was last reported of an erasure that passes things over. */
interface Told {
  readonly at: number;
  /** The `count` of what was left by then. */
  readonly count: number;
}

const NOTHING_TOLD: Told = { at: Number.NEGATIVE_INFINITY, count: 0 };

/**
 * Makes a function that goes on with erasures, and passes over rows that cannot be erased: a stretch that fails is made shorter and shorter,
 * down to one row, which is then left for the next time. What is stored says so: the erasure stands where it failed first, while this
 * process goes on behind that, and an hour after the end begins again there. So no process completes it, of the previous version either,
 * and it keeps no other waiting. If the end itself cannot be stored, it waits as long.
 *
 * What is passed over first is reported, by `RowPutOff`, and at most once a minute how much was since.
 */
export function createErasing(): (erasing: Erasing) => Promise<number> {
  const { idsThatWait, takeUp, goOn, putOff } = createPlaces();
  return async ({ now, looks, erase }) => {
    const waiting = idsThatWait(now);
    for (let most = looks; ; most = Math.ceil(most / 8)) {
      let taken: Taken | undefined;
      let behind: string | undefined;
      let isEnding = false;
      const goesOnAt: TakenErasure["goesOnAt"] = (position) => {
        behind = position;
      };
      const ends: TakenErasure["ends"] = () => {
        isEnding = true;
      };
      const take = (stored: ErasureRow) => {
        taken = takeUp(stored);
        // The transaction may run again, and then take another one.
        behind = undefined;
        isEnding = false;
        return { ...taken, goesOnAt, ends };
      };
      try {
        const erased = await erase(most, { waiting, take });
        if (taken) goOn(taken, erased, now);
        return erased.moved;
      } catch (error) {
        if (isOutage(error) || !taken) throw error;
        if (most > 1) continue;
        const told = putOff(taken, { behind, isEnding }, now);
        if (told === undefined) return 1;
        throw new RowPutOff(`${told}: ${errorText(error)}`);
      }
    }
  };
}

/** Where a stretch failed. */
interface Failed {
  readonly behind: string | undefined;
  /** It was the end that could not be stored. */
  readonly isEnding: boolean;
}

/** Which erasures wait, and where those stand that have passed over something, as far as this process knows. */
function createPlaces() {
  const waits = createPutOffRows<string>();
  const passing = new Map<string, Passing>();
  const toldOf = (id: string) => passing.get(id)?.told ?? NOTHING_TOLD;
  const waitFrom = (id: string, now: number) => {
    passing.delete(id);
    waits.add(id, now + AGAIN_MS);
  };
  return {
    idsThatWait: waits.ids,
    takeUp(stored: ErasureRow): Taken {
      const passed = passing.get(stored.id);
      if (passed && isSamePlace(passed.left.place, stored))
        return { row: { ...stored, ...passed.at }, left: passed.left };
      // Another process may have erased what was left.
      passing.delete(stored.id);
      return { row: stored };
    },
    goOn({ row: { id }, left }: Taken, { moved, reached }: Erased, now: number): void {
      if (!left) return;
      if (reached) passing.set(id, { left, at: reached, told: toldOf(id) });
      else if (moved > 0) waitFrom(id, now);
    },
    /** What to report; `undefined`: nothing yet. If an erasure could not be completed, its next stretch stores that something is left. */
    putOff({ row, left }: Taken, { behind, isEnding }: Failed, now: number): string | undefined {
      if (left && isEnding) {
        waitFrom(row.id, now);
        return `the end of erasure ${row.id}, put off for ${AGAIN_MS / 1_000} s`;
      }
      const { place, count: before } = left ?? { place: placeOf(row), count: 0 };
      const at = placeBehind(row, before < MAX_PASSED ? behind : undefined);
      const count = before + 1;
      const told = toldOf(row.id);
      const isDue = Math.abs(now - told.at) >= TELL_EVERY_MS;
      passing.set(row.id, { left: { place, count }, at, told: isDue ? { at: now, count } : told });
      if (!isDue) return undefined;
      const untold = count - told.count;
      return `erasure ${row.id}, ${untold === 1 ? "a part" : `${untold} parts`} of it put off`;
    },
  };
}

type Taken = Pick<TakenErasure, "row" | "left">;

/** Where an erasure goes on once a walk has come to `next`; absent: to its end. */
export function placeBehind({ walk }: Place, next: Stretch["next"]): Place {
  return next === undefined ? { walk: walk + 1, position: "" } : { walk, position: next };
}

function placeOf({ walk, position }: Place): Place {
  return { walk, position };
}

function isSamePlace(one: Place, other: Place): boolean {
  return one.walk === other.walk && one.position === other.position;
}
