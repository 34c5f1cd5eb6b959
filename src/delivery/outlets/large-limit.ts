import type { Clock } from "../../core/clock.ts";

/** Limits how many large messages a connector sends at a time, so that others find a free connection, and memory is bounded. */
export interface LargeLimit {
  /** Takes a place, until `leave` is called. If all are taken: how long to wait before asking again, in whole milliseconds. */
  enter(): { readonly leave: () => void } | { readonly waitMs: number };
}

/** How far apart messages that found no place come back, one by one: a thousand of them must not be claimed every second. */
const SPACING_MS = 250;
const LONGEST_WAIT_MS = 60_000;

export function createLargeLimit(clock: Pick<Clock, "monotonicMs">, places: number): LargeLimit {
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
