import type { Clock } from "../../../../core/clock.ts";

/** Counts the segments that were put off and have not come back yet. */
export interface PutOffCount {
  /** Adds segments that come back after `forMs`, at most `LONGEST_COUNTED_MS`. */
  add(segments: number, forMs: number): void;
  /** The present count. A segment that came back is counted for up to `STEP_MS` more. */
  now(): number;
}

/** The times at which segments come back are rounded down to multiples of this. */
const STEP_MS = 10_000;

const STEPS = 192;

/** A longer time would fall into the step of an earlier one. */
export const LONGEST_COUNTED_MS = (STEPS - 2) * STEP_MS;

export function createPutOffCount(clock: Clock): PutOffCount {
  /** How many segments come back in each step, by its number modulo `STEPS`. */
  const backIn = new Array<number>(STEPS).fill(0);
  let total = 0;
  const stepIn = (ms: number) => Math.floor((clock.monotonicMs() + ms) / STEP_MS);
  let step = stepIn(0);

  const forgetWhoIsBack = () => {
    const current = stepIn(0);
    for (; step < current && total > 0; step++) {
      total -= backIn[step % STEPS] ?? 0;
      backIn[step % STEPS] = 0;
    }
    step = current;
  };

  return {
    add(segments, forMs) {
      forgetWhoIsBack();
      const place = stepIn(Math.min(forMs, LONGEST_COUNTED_MS)) % STEPS;
      backIn[place] = (backIn[place] ?? 0) + segments;
      total += segments;
    },
    now() {
      forgetWhoIsBack();
      return total;
    },
  };
}
