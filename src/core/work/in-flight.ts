/** Work that has begun and has not ended. */
export interface InFlight {
  count(): number;
  /** Counts `work` until it ends, and returns it. */
  add<T>(work: Promise<T>): Promise<T>;
  /** Resolves when all work that is under way now has ended, with or without an error. */
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
