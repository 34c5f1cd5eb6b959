import type { Clock } from "../../core/clock.ts";

/** A token bucket: so many segments (or emails) a second, one second's worth at once. */
export interface Throttle {
  /** False: it has no limit, and counts nothing. */
  readonly isLimited: boolean;
  /** Whole tokens there are now; 0 or less means wait. */
  available(): number;
  /** Takes `count` tokens, into debt where there are fewer: a long message is not cut in two. */
  take(count: number): void;
  /** Milliseconds until there is a token; 0 if there is one. */
  waitMs(): number;
}

/**
 * @param perSecond absent or 0: no limit
 * @param part what of it is this process's now, from 0 to 1; what grows begins to fill from then on
 */
export function createThrottle(
  clock: Clock,
  perSecond: number | undefined,
  part: () => number = () => 1,
): Throttle {
  if (!perSecond) return UNLIMITED;
  let rate = perSecond * part();
  let tokens = capacityOf(rate);
  let filledAt = clock.monotonicMs();

  const refill = () => {
    const now = clock.monotonicMs();
    tokens = Math.min(capacityOf(rate), tokens + ((now - filledAt) / 1_000) * rate);
    filledAt = now;
    rate = perSecond * part();
    tokens = Math.min(capacityOf(rate), tokens);
  };
  return {
    isLimited: true,
    available() {
      refill();
      return Math.floor(tokens);
    },
    take(count) {
      refill();
      tokens -= count;
    },
    waitMs() {
      refill();
      return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / rate) * 1_000);
    },
  };
}

/** A second's worth, but a whole token where there is a rate at all. */
function capacityOf(rate: number): number {
  return rate > 0 ? Math.max(1, rate) : 0;
}

const UNLIMITED: Throttle = {
  isLimited: false,
  available: () => Number.POSITIVE_INFINITY,
  take() {},
  waitMs: () => 0,
};
