/** What every kind of record says of itself, and what all its endpoints share. */
import Type, { type TObject } from "typebox";
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Call } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { shownFields } from "./shown-fields.ts";

export interface RecordPlan<K extends RecordKind> {
  readonly kind: K;
  /** Last part of the path: `sms-templates`. */
  readonly path: string;
  /** As sentences call it: `SMS template`. */
  readonly noun: string;
  /** As operations call it: `SmsTemplate`. */
  readonly operation: string;
  /** Under what name, beside `id`, a record shows its id: the name by which others refer to it. */
  readonly idName?: string;
  readonly shown: TObject;
  show(record: RecordTypes[K]): object | Promise<object>;
  /** Query parameters of the list, and the fields they ask for. `account_id` must exist. */
  readonly filters: Readonly<Record<string, keyof RecordTypes[K] & string>>;
  /** How what a filter asks for is written in the records, where that is another way than it was given. */
  readonly asKept?: Readonly<Record<string, (given: string) => string>>;
  /** Runs after every change that is stored, and before it is answered. */
  onChanged?(): Promise<void>;
}

export const ADMIN_MAX_BYTES = 1024 * 1024;

export function adminPath(path: string): string {
  return `/admin/v1/${path}`;
}

export function adminOnly(noun: string) {
  return { auth: "admin", tag: `Admin: ${manyOf(noun)}` } as const;
}

/** `push apps`, `DLT entities`; of operations too. */
export function manyOf(noun: string): string {
  return noun.endsWith("ty") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** The record a path names. */
export async function recordOf<K extends RecordKind>(
  deps: AdminDeps,
  kind: K,
  call: Call,
): Promise<RecordTypes[K]> {
  const id = call.params.id ?? "";
  // The database may hold ids in a type that takes nothing else.
  if (!isUuid(id)) throw notFound();
  const record = await deps.store.records.find(kind, { id: id.toLowerCase() } as Partial<RecordTypes[K]>);
  if (!record) throw notFound();
  return record;
}

export async function shownRecord<K extends RecordKind>(
  plan: RecordPlan<K>,
  record: RecordTypes[K],
): Promise<object> {
  return { id: record.id, ...(plan.idName && { [plan.idName]: record.id }), ...(await plan.show(record)) };
}

export function shownSchema<K extends RecordKind>({ idName, shown }: RecordPlan<K>): TObject {
  return Type.Object({ ...(idName && { [idName]: shownFields.id }), ...shown.properties });
}

export function bodyOf(call: Call): Readonly<Record<string, unknown>> {
  return call.body?.json ?? {};
}

export const MISSING = { description: "There is none with this id" };
