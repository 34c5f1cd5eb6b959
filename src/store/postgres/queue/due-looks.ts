import type { Clock } from "../../../core/clock.ts";
import { createWholeLooks } from "./whole-looks.ts";

/** When the first of the leased rows of a table ends, and when the first of those that wait is due; `null`: there is none. */
export interface FirstDue {
  readonly leased: number | null;
  readonly waiting: number | null;
}

/** Rows that are due earlier are not looked at. Unix milliseconds. */
export type DueFloors = { readonly [Kind in keyof FirstDue]: number };

const FROM_START: DueFloors = { leased: Number.MIN_SAFE_INTEGER, waiting: Number.MIN_SAFE_INTEGER };

/** Rows that begin to wait are due later than now, give or take the difference of two clocks and the time that a commit takes. */
const SLACK_MS = 10_000;

export interface DueLooks {
  /** When the next row is due. Without `now` the look begins at the start; see `WholeLooks`. */
  next(now?: number): Promise<number | undefined>;
  /** Nothing that the last look knows of is due earlier. */
  floors(): DueFloors;
}

/** @param look finds the first rows that are not due before these */
export function createDueLooks(
  clock: Pick<Clock, "monotonicMs">,
  look: (from: DueFloors) => Promise<FirstDue>,
): DueLooks {
  const wholeLooks = createWholeLooks(clock);
  let floors = FROM_START;
  return {
    async next(now) {
      const isWhole = now === undefined || wholeLooks.isDue();
      if (isWhole) wholeLooks.begin();
      const first = await (isWhole ? wholeLooks.timed(() => look(FROM_START)) : look(floors));
      const floorOf = (dueAt: number | null) => Math.min(dueAt ?? Number.MAX_SAFE_INTEGER, latest(now));
      floors = { leased: floorOf(first.leased), waiting: floorOf(first.waiting) };
      const dueAts = [first.leased, first.waiting].filter((dueAt) => dueAt !== null);
      return dueAts.length > 0 ? Math.min(...dueAts) : undefined;
    },
    floors: () => floors,
  };
}

function latest(now: number | undefined): number {
  return now === undefined ? Number.MIN_SAFE_INTEGER : now - SLACK_MS;
}
