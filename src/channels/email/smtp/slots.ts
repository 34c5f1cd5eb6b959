/** Counts what is under way, and waits for it. */
export interface Slots {
  readonly taken: () => number;
  readonly hold: <T>(work: () => Promise<T>) => Promise<T>;
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
