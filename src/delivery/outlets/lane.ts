import type { Clock } from "../../core/clock.ts";

/** Limits how many large messages a connector sends at a time, so that others find a connection and memory is bounded. */
export interface Lane {
  /** A place, held until `leave` is called. Where all are taken: how long to wait before asking again, whole milliseconds. */
  enter(): { readonly leave: () => void } | { readonly waitMs: number };
}

/** Those that find no place come back one by one this far apart: a thousand of them must not be claimed every second. */
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
