import { createHmac } from "node:crypto";
import type { RecordKind, RecordTypes } from "../core/accounts.ts";

/**
 * Of a number, or of an address in any case, what stands for it in the suppressions and opt-outs of somebody who was
 * erased: `erased:` and 64 hex digits. Numbers are few, and a plain digest would give them away: this one takes the
 * pepper, 32 octets in hex that are made once and lie sealed in the database.
 */
export type ErasedForm = (recipient: string) => string;

export function createErasedForm(pepper: string): ErasedForm {
  const key = Buffer.from(pepper, "hex");
  return (recipient) => `erased:${createHmac("sha256", key).update(recipient.toLowerCase()).digest("hex")}`;
}

/** Under which name `meta` holds the sealed pepper, and for which place it is sealed. */
export const PEPPER = { name: "erasure_pepper", place: "meta/erasure_pepper" } as const;

/** Which field of a record becomes its erased form. */
const ERASABLE: { readonly [K in RecordKind]?: string } = { suppressions: "email", optOuts: "recipient" };

/** The fields of a search as they are once the recipient was erased; `undefined` where nobody is named. */
export function erasedFields<K extends RecordKind>(
  kind: K,
  fields: Partial<RecordTypes[K]>,
  toErased: ErasedForm | undefined,
): Partial<RecordTypes[K]> | undefined {
  const field = ERASABLE[kind];
  const value = field && (fields as Readonly<Record<string, unknown>>)[field];
  if (!toErased || !field || typeof value !== "string") return undefined;
  return { ...fields, [field]: toErased(value) };
}

/** Of a new record, the search for those among which there may be the same one, and which field is taken then. */
export function erasedTwins<K extends RecordKind>(
  kind: K,
  record: RecordTypes[K],
  toErased: ErasedForm | undefined,
): { readonly where: Partial<RecordTypes[K]>; readonly field: string } | undefined {
  const field = ERASABLE[kind];
  if (!field || !("accountId" in record)) return undefined;
  const where = erasedFields(kind, record, toErased) as Readonly<Record<string, unknown>> | undefined;
  const search: Readonly<Record<string, unknown>> = { accountId: record.accountId, [field]: where?.[field] };
  return where && { where: search as Partial<RecordTypes[K]>, field };
}
