/** Counts the messages under way. */
export interface Slots {
  readonly taken: () => number;
  /** Takes a slot until `work` has ended, and returns its result. */
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
  /** Resolves when the work that is under way now has ended. */
  readonly allFree: () => Promise<void>;
}

export function createSlots(): Slots {
  const held = new Set<Promise<unknown>>();
  return {
    taken: () => held.size,
    async hold<T>(work: () => Promise<T>): Promise<T> {
      const done = work();
      held.add(done);
      try {
        return await done;
      } finally {
        held.delete(done);
      }
    },
    async allFree() {
      await Promise.allSettled([...held]);
    },
  };
}
