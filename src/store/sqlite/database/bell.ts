import type { Database } from "./database.ts";

/** Notifies listeners of what a transaction has brought, once it is committed. */
export interface Bell<Name> {
  /** To be called within a transaction that brings something under this name. */
  ring(name: Name): void;
  onRing(listener: (name: Name) => void): () => void;
}

/** Notifies once per name and commit. What a rolled-back call rang is notified with the next commit, which does no harm. */
export function createBell<Name>(db: Pick<Database, "onCommit">): Bell<Name> {
  const rung = new Set<Name>();
  const listeners = new Set<(name: Name) => void>();
  db.onCommit(() => {
    if (rung.size === 0) return;
    const names = [...rung];
    rung.clear();
    for (const name of names) for (const listener of listeners) listener(name);
  });
  return {
    ring: (name) => void rung.add(name),
    onRing(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
