/**
 * Remembers when the last messages were sent, so that no second has more of them than the rate, wherever the second begins. A
 * provider counts by seconds of its own, and throttles the rest. If the rate is not a whole number, the window is longer than a
 * second: it is the time for the next whole number.
 */
export interface RateWindow {
  /** How many more may be sent at this time; infinite without a rate. */
  room(atMs: number): number;
  /** Milliseconds until one may be sent; 0 if one may be sent now. */
  waitMs(nowMs: number): number;
  took(atMs: number): void;
  /** A window for another rate. What was sent before still counts, unless the rate was infinite. */
  withRate(perSecond: number, marginMs?: number): RateWindow;
}

/** How much longer a second is here, since the network may delay one segment and not the next. */
const MARGIN_MS = 10;

/** @param sentAtMs the times at which messages were sent before, oldest first */
export function createRateWindow(
  perSecond: number,
  sentAtMs: readonly number[] = [],
  marginMs = MARGIN_MS,
): RateWindow {
  if (!Number.isFinite(perSecond)) return unlimited();
  const size = Math.ceil(perSecond);
  const spanMs = (size / perSecond) * 1000 + marginMs;
  /** The last `size` times, in a ring: `next` is the oldest. */
  const times = new Float64Array(size).fill(Number.NEGATIVE_INFINITY);
  let next = 0;
  const nth = (n: number) => times[(next + n) % size] ?? 0;
  const took = (atMs: number) => {
    times[next] = atMs;
    next = (next + 1) % size;
  };
  for (const atMs of sentAtMs) took(atMs);
  return {
    room: (atMs) => countWhile(size, (n) => nth(n) + spanMs <= atMs),
    waitMs: (nowMs) => Math.max(0, Math.ceil(nth(0) + spanMs - nowMs)),
    took,
    withRate: (rate, margin) =>
      createRateWindow(rate, [...times.slice(next), ...times.slice(0, next)], margin),
  };
}

function unlimited(): RateWindow {
  return {
    room: () => Number.POSITIVE_INFINITY,
    waitMs: () => 0,
    took() {},
    withRate: (rate, margin) => createRateWindow(rate, [], margin),
  };
}

/** How many of the numbers 0 to `length` - 1 satisfy `holds`, which no number does after one that does not. */
function countWhile(length: number, holds: (n: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
