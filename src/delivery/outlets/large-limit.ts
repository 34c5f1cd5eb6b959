import type { Clock } from "../../core/clock.ts";
import { isLargeContent } from "../../core/email/large-body.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";

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

/** Takes a place for a large message. Other messages need none. */
export function takeLargePlace(
  largeLimit: LargeLimit,
  { content }: Pick<ClaimedJob, "content">,
): ReturnType<LargeLimit["enter"]> {
  const isApart = content.channel === "email" && content.isBodyApart === true;
  return isApart || isLargeContent(content) ? largeLimit.enter() : NO_PLACE_NEEDED;
}

const NO_PLACE_NEEDED = { leave() {} };
