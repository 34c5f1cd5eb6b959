/** Notifies listeners of what a commit has brought. */
export interface Bell<Name> {
  /** To be called after a commit that has brought something under these names. */
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
