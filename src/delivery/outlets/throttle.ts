import type { Clock } from "../../core/clock.ts";

/** A token bucket. A token is a segment or an email; the bucket holds what one second brings. */
export interface Throttle {
  /** False: there is no limit, and nothing is counted. */
  readonly isLimited: boolean;
  /** Whole tokens in the bucket now; 0 or less means wait. */
  available(): number;
  /** Takes `count` tokens, and goes into debt where there are fewer: a long message is not cut in two. */
  take(count: number): void;
  /** Milliseconds until there is a token; 0 if there is one. */
  waitMs(): number;
}

/**
 * @param perSecond absent or 0: no limit
 * @param part this process's part of the rate now, from 0 to 1; where it has grown, the bucket fills only from then on
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
      return Math.max(0, Math.ceil(((1 - tokens) / rate) * 1_000));
    },
  };
}

/** A second's worth, but at least one token where there is a rate at all. */
function capacityOf(rate: number): number {
  return rate > 0 ? Math.max(1, rate) : 0;
}

const UNLIMITED: Throttle = {
  isLimited: false,
  available: () => Number.POSITIVE_INFINITY,
  take() {},
  waitMs: () => 0,
};
