import type { Database } from "./database.ts";

/** Tells who waits for what, after the commit that brings it. */
export interface Bell<Name> {
  /** Within a transaction: something comes with it for those who wait under the name. */
  ring(name: Name): void;
  onRing(listener: (name: Name) => void): () => void;
}

/** Rings once per name and commit. After a rollback it rings for nothing, which harms nobody. */
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
