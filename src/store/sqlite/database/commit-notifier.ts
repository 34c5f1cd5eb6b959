import { createNotifier } from "../../notifier.ts";
import type { Database } from "./database.ts";

/** Notifies listeners of what a transaction has brought, once it is committed. */
export interface CommitNotifier<Name> {
  /** To be called within a transaction that brings something under this name. */
  notify(name: Name): void;
  subscribe(listener: (name: Name) => void): () => void;
}

/** Notifies once per name and commit. What a call named that was rolled back is notified with the next commit, which does no harm. */
export function createCommitNotifier<Name>(db: Pick<Database, "onCommit">): CommitNotifier<Name> {
  const pending = new Set<Name>();
  const { notify, subscribe } = createNotifier<Name>();
  db.onCommit(() => {
    if (pending.size === 0) return;
    const names = [...pending];
    pending.clear();
    notify(names);
  });
  return { notify: (name) => void pending.add(name), subscribe };
}
