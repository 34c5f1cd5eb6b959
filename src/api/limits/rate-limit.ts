import type { Clock } from "../../core/clock.ts";

/** The parameters of a token bucket. */
export interface RateLimit {
  /** Requests per second that are let through in the long run. */
  readonly rate: number;
  /** Size of the bucket: requests that are let through at once, after a pause. */
  readonly burst: number;
}

export interface NamedLimit {
  /** Name of the bucket. */
  readonly key: string;
  readonly limit: RateLimit;
}

export interface RateLimiter {
  /**
   * Takes a token from the bucket of each limit. If one of them is empty, takes none, and returns the whole seconds until
   * all have one, at least 1.
   */
  take(...limits: readonly NamedLimit[]): number | undefined;
}

/** Beyond this many, the buckets that were used least recently are dropped, which makes them full again. */
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
      return waits.length === 0 ? undefined : Math.max(...waits);
    },
  };
}
