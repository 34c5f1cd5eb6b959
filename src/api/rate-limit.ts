import type { Clock } from "../core/clock.ts";

export interface RateLimit {
  /** Requests a second, in the long run. */
  readonly rate: number;
  /** Requests at once, after a rest. */
  readonly burst: number;
}

export interface RateLimiter {
  /** Takes one request from the bucket of `key`; the seconds to wait, at least 1, where it is empty. */
  take(key: string, limit: RateLimit): number | undefined;
}

/** More than this and the buckets that rested longest are forgotten, which fills them. */
const MAX_BUCKETS = 50_000;

/** Token buckets of one process, in bounded memory. */
export function createRateLimiter(clock: Clock, maxBuckets = MAX_BUCKETS): RateLimiter {
  const buckets = new Map<string, { readonly tokens: number; readonly at: number }>();

  return {
    take(key, { rate, burst }) {
      const now = clock.monotonicMs();
      const bucket = buckets.get(key);
      const filled = bucket ? bucket.tokens + ((now - bucket.at) / 1000) * rate : burst;
      const tokens = Math.min(burst, filled);
      const isEmpty = tokens < 1;
      buckets.delete(key);
      buckets.set(key, { tokens: isEmpty ? tokens : tokens - 1, at: now });
      if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value ?? key);
      return isEmpty ? Math.max(1, Math.ceil((1 - tokens) / rate)) : undefined;
    },
  };
}
