import { SECOND_MS } from "../../core/time/durations.ts";

/** How many parts wait, of all messages together, as this process knows it. */
export interface WaitingCount {
  /** The number, counted in the last second, with the changes since; `undefined`: they have to be counted again. */
  known(now: number): number | undefined;
  counted(now: number, count: number): void;
  /** `by`: less than 0 if so many have become a message. */
  changed(by: number): void;
}

/**
 * Counting reads all parts, and those of complete messages stay for a while: often they are many more than those that wait. So it
 * is done once a second. As a bound the number need not be exact.
 */
export function createWaitingCount(): WaitingCount {
  let last = { at: Number.NEGATIVE_INFINITY, count: 0 };
  return {
    // Also where the clock was set back.
    known: (now) => (Math.abs(now - last.at) < SECOND_MS ? last.count : undefined),
    counted(at, count) {
      last = { at, count };
    },
    changed(by) {
      last = { ...last, count: last.count + by };
    },
  };
}
