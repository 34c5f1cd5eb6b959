import type { Clock } from "../../../../core/clock.ts";

/** How many segments were put off and are still to come back. */
export interface PutOffCount {
  /** `forMs`: after how long they come back, at most `LONGEST_COUNTED_MS`. */
  add(segments: number, forMs: number): void;
  /** Up to `STEP_MS` late. */
  now(): number;
}

/** The times at which segments come back are kept in steps of this length. */
const STEP_MS = 10_000;

const STEPS = 192;

/** A time further ahead would fall into the step of an earlier one. */
export const LONGEST_COUNTED_MS = (STEPS - 2) * STEP_MS;

export function createPutOffCount(clock: Clock): PutOffCount {
  /** Segments by the step in which they come back, modulo `STEPS`. */
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
