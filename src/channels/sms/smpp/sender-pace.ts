import type { Clock } from "../../../core/clock.ts";

/** Keeps each sender to so many segments a second, without holding up the others. */
export interface SenderPace {
  /**
   * Milliseconds until the message's turn; 0: it is now, and is taken. Who has to wait has a place from then on, if
   * it is not too far ahead.
   */
  waitMs(message: { readonly sender: string; readonly messageId: string; readonly segments: number }): number;
}

/** How far ahead places are given out. Beyond, a message comes back after one to two times this long and asks again. */
const HORIZON_MS = 30_000;

/** A sender that was silent may send so much at once, in milliseconds' worth. */
const BURST_MS = 250;

/** Places that may be held. They are taken up or lapse, so a place that is missing costs a wait, no more. */
const MAX_PLACES = 10_000;

/** A place nobody came for is given up so long after its time. */
const LAPSE_MS = 60_000;

/** Where nothing is this process's nothing leaves it; what is booked meanwhile must still end some day. */
const LEAST_PART = 0.01;

const NO_WAIT: SenderPace = { waitMs: () => 0 };

export interface SenderRate {
  /** Absent: senders have no rate of their own. */
  readonly perSecond: number | undefined;
  /** What of it is this process's now, up to 1; absent: all. */
  readonly part?: () => number;
}

export function createSenderPace(
  clock: Clock,
  random: () => number,
  { perSecond, part = () => 1 }: SenderRate,
): SenderPace {
  if (perSecond === undefined) return NO_WAIT;
  /** When each sender's next segment may go, as far as that lies ahead; in the order last used. */
  const nextAt = new Map<string, number>();
  /** By message, in the order given out. */
  const places = new Map<string, number>();

  const book = (sender: string, segments: number) => {
    const now = clock.monotonicMs();
    const at = Math.max(nextAt.get(sender) ?? Number.NEGATIVE_INFINITY, now - BURST_MS);
    nextAt.delete(sender);
    nextAt.set(sender, at + (segments / (perSecond * Math.max(part(), LEAST_PART))) * 1000);
    forgetPassed(nextAt, now - BURST_MS);
    return at;
  };

  return {
    waitMs({ sender, messageId, segments }) {
      const now = clock.monotonicMs();
      const place = places.get(messageId);
      if (place !== undefined && place > now) return place - now;
      if (places.delete(messageId) && place !== undefined && place > now - LAPSE_MS) return 0;
      const aheadMs = (nextAt.get(sender) ?? Number.NEGATIVE_INFINITY) - now;
      if (aheadMs > HORIZON_MS) return Math.ceil(HORIZON_MS * (1 + random()));
      const at = book(sender, segments);
      if (at <= now) return 0;
      forgetPassed(places, now - LAPSE_MS);
      if (places.size < MAX_PLACES) places.set(messageId, at);
      return Math.ceil(at - now);
    },
  };
}

/** From the oldest on, until one is not over yet: few at a time, and all in the end. */
function forgetPassed(times: Map<string, number>, limit: number): void {
  for (const [name, at] of times) {
    if (at > limit) return;
    times.delete(name);
  }
}
