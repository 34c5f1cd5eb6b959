import type { Clock } from "../core/clock.ts";

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

/** @param perSecond absent or 0: no limit */
export function createThrottle(clock: Clock, perSecond: number | undefined): Throttle {
  if (!perSecond) return UNLIMITED;
  const capacity = Math.max(1, perSecond);
  let tokens = capacity;
  let filledAt = clock.monotonicMs();

  const refill = () => {
    const now = clock.monotonicMs();
    tokens = Math.min(capacity, tokens + ((now - filledAt) / 1_000) * perSecond);
    filledAt = now;
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
      return tokens >= 1 ? 0 : Math.ceil(((1 - tokens) / perSecond) * 1_000);
    },
  };
}

const UNLIMITED: Throttle = {
  isLimited: false,
  available: () => Number.POSITIVE_INFINITY,
  take() {},
  waitMs: () => 0,
};
