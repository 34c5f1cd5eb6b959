import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import type { RecordChanges, Records, Updated } from "../../store/store.ts";
import { conflict, notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { NO_CONNECTOR } from "./draft.ts";
import type { RecordPlan } from "./record-plan.ts";

/** A change that can be worked out again if another one comes first. */
export interface Merge<K extends RecordKind> {
  /** The record as it was read last. */
  readonly current: RecordTypes[K];
  /** The fields to change, given the record as it is now. Fields that are absent or `undefined` stay. */
  toChanges(current: RecordTypes[K]): RecordChanges<K> | Promise<RecordChanges<K>>;
}

/** Two processes that keep changing the same record overtake each other about every other time. */
const MAX_TRIES = 50;

/** Changes a record, runs `onChanged`, and returns the record as it is then. Refuses a change that conflicts. */
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

/** Changes a record. If another change came first, the changes are worked out again from what that one left. */
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

/** Another record has the value of `field` (in the store's spelling), or what `field` refers to was deleted meanwhile. */
export function taken(noun: string, field: string) {
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const gone = { accountId: "no such account", connectorId: NO_CONNECTOR, connectorIds: NO_CONNECTOR }[field];
  return conflict({ [name]: gone ?? `taken by another ${noun}` });
}
