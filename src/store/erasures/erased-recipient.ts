import { createHmac } from "node:crypto";
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import { domainSpellingsOf, spellingsOf } from "../address-spellings.ts";
import { erasedSpellings } from "../suppressions/suppression-names.ts";

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

/** Which field of a record has several spellings. */
const SPELLED: { readonly [K in RecordKind]?: string } = { ...ERASABLE, domains: "domain" };

/** The searches for what else a record about the same recipient or domain may be named: otherwise spelled, or erased. */
export function otherSearches<K extends RecordKind>(
  kind: K,
  fields: Partial<RecordTypes[K]>,
  toErased: ErasedForm | undefined,
): readonly Partial<RecordTypes[K]>[] {
  const field = SPELLED[kind];
  const value = textAt(field, fields);
  if (!field || value === undefined) return [];
  const names =
    kind === "domains"
      ? domainSpellingsOf(value)
      : new Set([...spellingsOf(value), ...erasedSpellings(value, toErased)]);
  return [...names].flatMap((name) => (name === value ? [] : [{ ...fields, [field]: name }]));
}

/** Whom a record, or a search, is about. */
export function namedRecipient<K extends RecordKind>(
  kind: K,
  fields: Partial<RecordTypes[K]>,
): string | undefined {
  return textAt(ERASABLE[kind], fields);
}

function textAt(field: string | undefined, fields: object): string | undefined {
  const value = field === undefined ? undefined : (fields as Readonly<Record<string, unknown>>)[field];
  return typeof value === "string" ? value : undefined;
}

interface Twins<K extends RecordKind> {
  /** The searches for those among which there may be the same one. */
  readonly searches: readonly Partial<RecordTypes[K]>[];
  /** Which field is taken then. */
  readonly field: string;
}

/** Of a new record. */
export function otherTwins<K extends RecordKind>(
  kind: K,
  record: RecordTypes[K],
  toErased: ErasedForm | undefined,
): Twins<K> | undefined {
  const field = SPELLED[kind];
  const name = textAt(field, record);
  if (!field || name === undefined || !("accountId" in record)) return undefined;
  const search: Readonly<Record<string, unknown>> = { accountId: record.accountId, [field]: name };
  return { searches: otherSearches(kind, search as Partial<RecordTypes[K]>, toErased), field };
}
