import type { Clock } from "../../core/clock.ts";

export interface RateLimit {
  /** Requests a second, in the long run. */
  readonly rate: number;
  /** Requests at once, after a rest. */
  readonly burst: number;
}

export interface NamedLimit {
  /** Of the bucket. */
  readonly key: string;
  readonly limit: RateLimit;
}

export interface RateLimiter {
  /**
   * Takes one request from the bucket of each limit, or from none where one of them is empty: then the seconds to wait for all,
   * at least 1.
   */
  take(...limits: readonly NamedLimit[]): number | undefined;
}

/** More than this and the buckets that rested longest are forgotten, which fills them. */
const MAX_BUCKETS = 50_000;

/** Token buckets of one process, in bounded memory. */
export function createRateLimiter(clock: Clock, maxBuckets = MAX_BUCKETS): RateLimiter {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>();

  const tokensIn = ({ key, limit: { rate, burst } }: NamedLimit, now: number): number => {
    const bucket = buckets.get(key);
    const filled = bucket ? bucket.tokens + ((now - bucket.at) / 1000) * rate : burst;
    return Math.min(burst, filled);
  };
  const put = (key: string, tokens: number, at: number): void => {
    buckets.delete(key);
    buckets.set(key, { tokens, at });
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value ?? key);
  };

  return {
    take(...limits) {
      const now = clock.monotonicMs();
      const found = limits.map((each) => ({ ...each, tokens: tokensIn(each, now) }));
      const empty = found.filter(({ tokens }) => tokens < 1);
      const taken = empty.length === 0 ? 1 : 0;
      for (const { key, tokens } of found) put(key, tokens - taken, now);
      const waits = empty.map(({ tokens, limit: { rate } }) => Math.ceil((1 - tokens) / rate));
      return waits.length === 0 ? undefined : Math.max(1, ...waits);
    },
  };
}
