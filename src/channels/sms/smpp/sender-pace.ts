import type { Clock } from "../../../core/clock.ts";

/** Keeps each sender to its rate, in segments a second, without holding up the others. */
export interface SenderPace {
  /**
   * Milliseconds until the message may go; 0: now, and its segments are counted. A message that has to wait is given a
   * place (a time to go), unless that would be further ahead than `HORIZON_MS`.
   */
  waitMs(message: { readonly sender: string; readonly messageId: string; readonly segments: number }): number;
}

/** How far ahead places are given out. Beyond it, a message asks again after once to twice this long. */
const HORIZON_MS = 30_000;

/** The largest burst of a sender that was silent, in milliseconds' worth of segments. */
const BURST_MS = 250;

/** Places held at a time. A message that finds none left only has to wait once more. */
const MAX_PLACES = 10_000;

/** How long after its time a place that was not used is given up. */
const LAPSE_MS = 60_000;

/** The least part of the rate to reckon with: while this process has none it sends nothing, and bookings must not be endless. */
const LEAST_PART = 0.01;

const NO_WAIT: SenderPace = { waitMs: () => 0 };

export interface SenderRate {
  /** Absent: senders have no rate of their own. */
  readonly perSecond: number | undefined;
  /** This process's part of the rate now, from 0 to 1; absent: all. */
  readonly part?: () => number;
}

export function createSenderPace(
  clock: Clock,
  random: () => number,
  { perSecond, part = () => 1 }: SenderRate,
): SenderPace {
  if (perSecond === undefined) return NO_WAIT;
  /** When each sender's next segment may go, for senders used lately; in the order of last use. */
  const nextAt = new Map<string, number>();
  /** When each waiting message may go; in the order given out. */
  const places = new Map<string, number>();

  const reserve = (sender: string, segments: number) => {
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
      const at = reserve(sender, segments);
      if (at <= now) return 0;
      forgetPassed(places, now - LAPSE_MS);
      if (places.size < MAX_PLACES) places.set(messageId, at);
      return Math.ceil(at - now);
    },
  };
}

/** Forgets entries up to `limit`, from the oldest on. It stops at the first that is later, so a few may stay for a while. */
function forgetPassed(times: Map<string, number>, limit: number): void {
  for (const [name, at] of times) {
    if (at > limit) return;
    times.delete(name);
  }
}
