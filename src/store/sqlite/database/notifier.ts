import type { Database } from "./database.ts";

/** Notifies listeners of what a transaction has brought, once it is committed. */
export interface Notifier<Name> {
  /** To be called within a transaction that brings something under this name. */
  notify(name: Name): void;
  subscribe(listener: (name: Name) => void): () => void;
}

/** Notifies once per name and commit. What a call named that was rolled back is notified with the next commit, which does no harm. */
export function createNotifier<Name>(db: Pick<Database, "onCommit">): Notifier<Name> {
  const pending = new Set<Name>();
  const listeners = new Set<(name: Name) => void>();
  db.onCommit(() => {
    if (pending.size === 0) return;
    const names = [...pending];
    pending.clear();
    for (const name of names) for (const listener of listeners) listener(name);
  });
  return {
    notify: (name) => void pending.add(name),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
