/** What `on_unconfirmed` of an account was at which time, as far as its operator knows. */

export interface Holding {
  /** Makes a change by `put`, unless another one is under way; until a while after its answer either value may count. */
  change(holds: boolean, put: () => Promise<unknown>): Promise<void>;
  /** Whether nothing but `hold` can have counted from then until then, in Unix milliseconds. */
  wasAlways(fromMs: number, untilMs: number): boolean;
}

/** How long an attempt that has read the setting may still go by it, and how long a process may have it read before. */
const IN_USE_MS = 4_000;

export function createHolding(holds: boolean): Holding {
  /** `undefined`: either. */
  const known: { readonly sinceMs: number; readonly holds: boolean | undefined }[] = [{ sinceMs: 0, holds }];
  let isChanging = false;
  return {
    async change(holdsNow, put) {
      if (isChanging) return;
      isChanging = true;
      known.push({ sinceMs: Date.now(), holds: undefined });
      try {
        await put();
        known.push({ sinceMs: Date.now() + IN_USE_MS, holds: holdsNow });
      } finally {
        isChanging = false;
      }
    },
    wasAlways(fromMs, untilMs) {
      const times = known.toSorted((one, other) => one.sinceMs - other.sinceMs);
      return times.every(
        (time, place) =>
          time.sinceMs > untilMs || (times[place + 1]?.sinceMs ?? Infinity) <= fromMs || time.holds === true,
      );
    },
  };
}
