import type { RecordKind, RecordTypes } from "../../src/core/records/accounts.ts";
import type { RecordChanges, Store } from "../../src/store/store.ts";

/** Changes a record directly in the store; throws if that fails. */
export async function rewriteRecord<K extends RecordKind>(
  { store: { records } }: { readonly store: Pick<Store, "records"> },
  kind: K,
  { id, ...changes }: RecordChanges<K> & { readonly id: string },
): Promise<void> {
  const read = await records.find(kind, { id } as Partial<RecordTypes[K]>);
  const done = read && (await records.update(kind, read, changes as unknown as RecordChanges<K>));
  if (!done || !("id" in done)) throw new Error(`no such ${kind}, or not as it was: ${JSON.stringify(done)}`);
}
