/** Tells listeners the names of what a commit has brought: queues, accounts or lanes. */
export interface Notifier<Name> {
  /** To be called after the commit. */
  notify(names: Iterable<Name>): void;
  subscribe(listener: (name: Name) => void): () => void;
}

export function createNotifier<Name>(): Notifier<Name> {
  const listeners = new Set<(name: Name) => void>();
  return {
    notify(names) {
      for (const name of names) for (const listener of listeners) listener(name);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
