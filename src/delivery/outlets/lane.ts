import type { Clock } from "../../core/clock.ts";

/** Few large messages at a time over a connector, so that the others find a connection and the process has memory. */
export interface Lane {
  /** A place until `leave` is called; or, where all are taken, when to come back, in whole milliseconds. */
  enter(): { readonly leave: () => void } | { readonly waitMs: number };
}

/** Those who find no place come back one after the other, so that a thousand of them are not claimed every second. */
const SPACING_MS = 250;
const LONGEST_WAIT_MS = 60_000;

export function createLane(clock: Pick<Clock, "monotonicMs">, places: number): Lane {
  let taken = 0;
  let nextMs = 0;
  return {
    enter() {
      if (taken >= places) {
        const nowMs = clock.monotonicMs();
        nextMs = Math.max(nowMs, nextMs) + SPACING_MS;
        return { waitMs: Math.min(LONGEST_WAIT_MS, Math.ceil(nextMs - nowMs)) };
      }
      taken++;
      return { leave: () => void taken-- };
    },
  };
}
