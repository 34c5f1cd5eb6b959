/** Work that has begun and not ended. */
export interface InFlight {
  count(): number;
  /** Counts `work` until it ends, and returns it. */
  add<T>(work: Promise<T>): Promise<T>;
  /** Resolves when those that are under way now have ended, however they did. */
  whenEmpty(): Promise<void>;
}

export function createInFlight(): InFlight {
  const inFlight = new Set<Promise<unknown>>();
  return {
    count: () => inFlight.size,
    add(work) {
      const remove = () => void inFlight.delete(work);
      inFlight.add(work);
      work.then(remove, remove);
      return work;
    },
    whenEmpty: async () => void (await Promise.allSettled(inFlight)),
  };
}
