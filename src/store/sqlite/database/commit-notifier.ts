import { createNotifier } from "../../notifier.ts";
import type { Database } from "./database.ts";

/** Tells listeners the names of what a transaction has brought, once it is committed. */
export interface CommitNotifier<Name> {
  /** To be called within the transaction. */
  notify(name: Name): void;
  subscribe(listener: (name: Name) => void): () => void;
}

/** Tells each name once for each commit. Names of a call that was rolled back are told after the next commit, which is harmless. */
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
