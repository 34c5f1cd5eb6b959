import type { Clock } from "../clock.ts";
import { remember } from "./remember.ts";

/** A read-through cache. Its values live for `maxAgeMs`, so that one that is needed all the time is read no more often than that. */
export interface FreshCache<Value> {
  /**
   * The value of `key`. Calls `load` if the last reading of it began `maxAgeMs` ago or earlier. Concurrent calls for one key share
   * a reading. A failed reading is not kept.
   */
  get(key: string, load: (key: string) => Promise<Value>): Value | Promise<Value>;
  /** The value that `get` would return without calling `load`; `undefined` if it would have to. */
  peek(key: string): { readonly value: Value } | undefined;
  /** Drops everything, so that later calls only get values that are read after this call. */
  forget(): void;
}

export interface FreshCacheOptions<Value> {
  readonly clock: Clock;
  /** The most values that are kept: beyond that, the oldest readings are dropped. */
  readonly maxEntries: number;
  /** Whether a value is kept; absent: all are. */
  readonly keeps?: (value: Value) => boolean;
  /** Absent: one second. */
  readonly maxAgeMs?: number;
}

/** A change takes effect in every process within this time. */
const MAX_AGE_MS = 1000;

export function createFreshCache<Value>(options: FreshCacheOptions<Value>): FreshCache<Value> {
  const { clock, maxEntries, keeps = () => true, maxAgeMs = MAX_AGE_MS } = options;
  const known = new Map<string, { readonly value: Value; readonly readAt: number }>();
  let loading = new Map<string, { readonly promise: Promise<Value>; readonly readAt: number }>();

  const keep = (key: string, entry: { readonly value: Value; readonly readAt: number }) => {
    if (keeps(entry.value)) remember(known, [key, entry], maxEntries);
    else known.delete(key);
  };

  const freshEntry = (key: string, now: number) => {
    const entry = known.get(key);
    return entry && now - entry.readAt < maxAgeMs ? entry : undefined;
  };

  const read = async (key: string, load: (key: string) => Promise<Value>, readAt: number) => {
    const readings = loading;
    try {
      const value = await load(key);
      // After `forget` the value still goes to the callers that waited for it, but it may be outdated.
      if (readings === loading) keep(key, { value, readAt });
      return value;
    } finally {
      if (readings.get(key)?.readAt === readAt) readings.delete(key);
    }
  };

  return {
    get(key, load) {
      const now = clock.monotonicMs();
      const entry = freshEntry(key, now);
      if (entry) return entry.value;
      // A reading that began too long ago may miss a change that must have taken effect by now.
      const shared = loading.get(key);
      if (shared && now - shared.readAt < maxAgeMs) return shared.promise;
      const promise = read(key, load, now);
      loading.set(key, { promise, readAt: now });
      return promise;
    },
    peek: (key) => freshEntry(key, clock.monotonicMs()),
    forget() {
      known.clear();
      loading = new Map();
    },
  };
}
