import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { RecordChanges, Records, Updated } from "../../store/store.ts";
import { conflict, notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { NO_CONNECTOR } from "./draft.ts";
import type { RecordPlan } from "./record-plan.ts";

export interface Merge<K extends RecordKind> {
  /** As it was read last. */
  readonly current: RecordTypes[K];
  /** What is to change of a record that is as it is given; nothing is what is absent or `undefined`. */
  toChanges(current: RecordTypes[K]): RecordChanges<K> | Promise<RecordChanges<K>>;
}

/** Of two processes that keep changing one record each is overtaken about every other time. */
const MAX_TRIES = 50;

/** Changes a record, tells whoever must know, and gives it as it is then; what cannot be is refused. */
export async function changeRecord<K extends RecordKind>(
  { store }: Pick<AdminDeps, "store">,
  { kind, noun, onChanged }: Pick<RecordPlan<K>, "kind" | "noun" | "onChanged">,
  merge: Merge<K>,
): Promise<RecordTypes[K]> {
  const done = await mergeInto(store.records, kind, merge);
  if (!done) throw notFound();
  if ("conflict" in done) throw taken(noun, done.conflict);
  if ("overtakenBy" in done) throw conflict({ id: `others keep changing the ${noun}: try again` });
  if (done !== merge.current) await onChanged?.();
  return done;
}

/** Changes follow from the record that they are made to: where another change came first they are worked out anew. */
export async function mergeInto<K extends RecordKind>(
  records: Pick<Records, "update">,
  kind: K,
  { current, toChanges }: Merge<K>,
): Promise<Updated<K>> {
  let read = current;
  for (let tries = 1; ; tries++) {
    const changes = await toChanges(read);
    if (Object.values(changes).every((value) => value === undefined)) return read;
    const done = await records.update(kind, read, changes);
    if (!done || !("overtakenBy" in done) || tries === MAX_TRIES) return done;
    read = done.overtakenBy;
  }
}

/** @param field as the store names it */
export function taken(noun: string, field: string) {
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  // The parent went between our look and the write.
  const gone = { accountId: "no such account", connectorId: NO_CONNECTOR, connectorIds: NO_CONNECTOR }[field];
  return conflict({ [name]: gone ?? `taken by another ${noun}` });
}
