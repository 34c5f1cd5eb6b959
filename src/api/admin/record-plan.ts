/** How a kind of record is described to the endpoints in `record-endpoints.ts`, and what those share. */
import Type, { type TObject, type TSchema } from "typebox";
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import { toIso } from "../../core/time/timestamp.ts";
import { isUuid } from "../../core/uuid.ts";
import type { Call } from "../endpoint.ts";
import { notFound } from "../errors.ts";
import type { AdminDeps } from "./admin-deps.ts";
import { shownFields } from "./shown-fields.ts";

export interface RecordPlan<K extends RecordKind> {
  readonly kind: K;
  /** Last part of the path: `sms-templates`. */
  readonly path: string;
  /** In sentences: `SMS template`. */
  readonly noun: string;
  /** In operation ids: `SmsTemplate`. */
  readonly operation: string;
  /** A second name, beside `id`, under which a record shows its id: the one that other records use. */
  readonly idName?: string;
  /** Its fields in responses, beside `id` and `created_at`, which every record has. */
  readonly shown: TObject;
  show(record: RecordTypes[K]): object | Promise<object>;
  /** By shown field that no change takes: what to do to change it; absent: to create another record. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Shown fields that no change takes, and that may have moved since they were read. */
  readonly changesByItself?: readonly string[];
  /** Query parameters of the list, and the record field that each compares with. The account of `account_id` must exist. */
  readonly filters: Readonly<Record<string, keyof RecordTypes[K] & string>>;
  /** By filter: what its values have to be; absent: any text. Of a value that no record has, an empty list would say that there are none. */
  readonly filterSchemas?: Readonly<Record<string, TSchema>>;
  /** By filter: turns its value into the form that is stored; absent: they are the same. */
  readonly toStored?: Readonly<Record<string, (given: string) => string>>;
  /** Fields of responses that a record is called by, and the record field of each: those that a search looks into. */
  readonly calledBy: Readonly<Record<string, keyof RecordTypes[K] & string>>;
  /** Turns what is searched for into the form in which a part of it is stored; absent: they are the same. */
  readonly toSearched?: (given: string) => string;
  /** Runs after every change that is stored, and before it is answered. */
  onChanged?(): Promise<void>;
}

/** The most octets of the body of an admin request. */
export const ADMIN_MAX_BYTES = 1024 * 1024;

export function adminPath(path: string): string {
  return `/admin/v1/${path}`;
}

/** For operators only. `topic`: under which the API reference has the endpoint. */
export function adminOnly(topic: string) {
  return { auth: "admin", tag: `Admin: ${topic}` } as const;
}

/** `push apps`, `DLT entities`; also of operation ids. */
export function pluralOf(noun: string): string {
  return noun.endsWith("ty") ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** The record that the path's `{id}` names; refuses an unknown id. */
export async function recordOf<K extends RecordKind>(
  deps: AdminDeps,
  kind: K,
  call: Call,
): Promise<RecordTypes[K]> {
  const id = call.params.id ?? "";
  // PostgreSQL's type `uuid` takes nothing else.
  if (!isUuid(id)) throw notFound();
  const record = await deps.store.records.find(kind, { id: id.toLowerCase() } as Partial<RecordTypes[K]>);
  if (!record) throw notFound();
  return record;
}

/** A record as responses show it. */
export async function shownRecord<K extends RecordKind>(
  plan: RecordPlan<K>,
  record: RecordTypes[K],
): Promise<object> {
  const { id, createdAt } = record;
  const shown = await plan.show(record);
  return { id, ...(plan.idName && { [plan.idName]: id }), ...shown, created_at: toIso(createdAt) };
}

/** The schema of `shownRecord`. */
export function shownSchema<K extends RecordKind>({ operation, idName, shown }: RecordPlan<K>): TObject {
  const { id, created_at } = shownFields;
  const fields = { ...(idName && { [idName]: id }), id, ...shown.properties, created_at };
  return Type.Object(fields, { title: operation });
}

/** The fields of a record in answers. */
export function shownNames<K extends RecordKind>(plan: RecordPlan<K>): readonly string[] {
  return Object.keys(shownSchema(plan).properties);
}

export function bodyOf(call: Call): Readonly<Record<string, unknown>> {
  return call.body?.json ?? {};
}

export const MISSING = { description: "No record has this id" };
