import type { Clock } from "../../core/clock.ts";
import { createRateWindow, type RateWindow } from "../../core/work/rate-window.ts";

/** A token bucket. A token is a segment or an email. The bucket holds one second's worth, and no second has more. */
export interface Throttle {
  /** False if there is no limit, and so nothing is counted. */
  readonly isLimited: boolean;
  /** How many whole tokens are in the bucket now; 0 or less means to wait. */
  available(): number;
  /** Takes `count` tokens, and goes into debt if there are fewer: a long message is not cut in two. */
  take(count: number): void;
  /** Milliseconds until there is a token; 0 if there is one now. */
  waitMs(): number;
  /** When the last tokens were taken, which counts for the throttle that follows this one. */
  readonly taken: RateWindow;
}

export interface ThrottleOptions {
  /** This process's part of the rate, from 0 to 1; after it grows, the bucket fills faster only from then on. Absent: always 1. */
  readonly part?: (() => number) | undefined;
  /** What the connector was throttled by until its settings were changed: no second has more for that. */
  readonly before?: Throttle | undefined;
  /** The rate of this second may have been used already, by what was not counted here. Absent: it was not. */
  readonly isUsed?: boolean;
}

/** @param perSecond absent or 0: no limit */
export function createThrottle(
  clock: Clock,
  perSecond: number | undefined,
  { part = () => 1, before, isUsed = false }: ThrottleOptions = {},
): Throttle {
  if (!perSecond) return UNLIMITED;
  let rate = perSecond * part();
  let tokens = capacityOf(rate);
  /** What was sent in the last second. It is kept even while this process's part of the rate is smaller, or 0. */
  const whole = windowOf(perSecond, before?.taken);
  let filledAt = clock.monotonicMs();
  if (isUsed) for (let sent = 0; sent < perSecond; sent++) whole.took(filledAt);
  let window = windowOf(rate, whole);

  const setRate = (next: number) => {
    if (next !== rate) window = windowOf(next, whole);
    rate = next;
  };
  const refill = () => {
    const now = clock.monotonicMs();
    tokens = Math.min(capacityOf(rate), tokens + ((now - filledAt) / 1_000) * rate);
    filledAt = now;
    setRate(perSecond * part());
    tokens = Math.min(capacityOf(rate), tokens);
  };
  return {
    isLimited: true,
    taken: whole,
    available() {
      refill();
      return Math.min(Math.floor(tokens), window.room(filledAt));
    },
    take(count) {
      refill();
      tokens -= count;
      for (let taken = 0; taken < count; taken++) {
        whole.took(filledAt);
        window.took(filledAt);
      }
    },
    waitMs() {
      refill();
      return Math.max(Math.ceil(((1 - tokens) / rate) * 1_000), window.waitMs(filledAt));
    },
  };
}

/** A second's worth, but at least one token if there is a rate at all. */
function capacityOf(rate: number): number {
  return rate > 0 ? Math.max(1, rate) : 0;
}

/** The window of a rate. A bucket of one token gives them out one by one, which a margin would only slow down. At rate 0: none. */
function windowOf(rate: number, before = UNBOUNDED): RateWindow {
  if (rate === 0) return UNBOUNDED;
  return rate > 1 ? before.withRate(rate) : before.withRate(rate, 0);
}

const UNBOUNDED = createRateWindow(Number.POSITIVE_INFINITY);

const UNLIMITED: Throttle = {
  isLimited: false,
  taken: UNBOUNDED,
  available: () => Number.POSITIVE_INFINITY,
  take() {},
  waitMs: () => 0,
};
