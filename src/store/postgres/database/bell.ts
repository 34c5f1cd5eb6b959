/** Tells who waits for what, after the commit that brings it. */
export interface Bell<Name> {
  /** After a commit: something came with it for those who wait under the names. */
  ring(names: Iterable<Name>): void;
  onRing(listener: (name: Name) => void): () => void;
}

export function createBell<Name>(): Bell<Name> {
  const listeners = new Set<(name: Name) => void>();
  return {
    ring(names) {
      for (const name of names) for (const listener of listeners) listener(name);
    },
    onRing(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
