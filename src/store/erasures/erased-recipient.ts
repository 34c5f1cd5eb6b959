import { createHmac } from "node:crypto";
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";
import { domainSpellingsOf, spellingsOf } from "../address-spellings.ts";
import { erasedSpellings } from "../suppressions/suppression-names.ts";

/**
 * Makes the erased form of a number, or of an address in any case: what replaces it in the suppressions and opt-outs of somebody
 * who was erased. It is `erased:` and 64 hex digits: an HMAC under the pepper (32 random octets, sealed in the database), since
 * there are so few numbers that the number behind a plain digest could be found by trying.
 */
export type ErasedForm = (recipient: string) => string;

export function createErasedForm(pepper: string): ErasedForm {
  const key = Buffer.from(pepper, "hex");
  return (recipient) =>
    `${ERASED_START}${createHmac("sha256", key).update(recipient.toLowerCase()).digest("hex")}`;
}

/** What every erased form begins with. */
export const ERASED_START = "erased:";

/** The field of a record that is replaced by its erased form. */
const ERASABLE: { readonly [K in RecordKind]?: string } = { suppressions: "email", optOuts: "recipient" };

/** The field of this kind that may hold an erased form. */
export function erasableField(kind: RecordKind): string | undefined {
  return ERASABLE[kind];
}

/** The field of a record that has several spellings. */
const SPELLED: { readonly [K in RecordKind]?: string } = { ...ERASABLE, domains: "domain" };

/** Further searches that find records about the same recipient or domain under other names: in another spelling, or erased. */
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

/** The recipient that a record, or a search, is about. */
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

/** How to find a record that is the same as a new one, under another name. */
interface Twins<K extends RecordKind> {
  /** Searches that would find it. */
  readonly searches: readonly Partial<RecordTypes[K]>[];
  /** The field whose value is taken then. */
  readonly field: string;
}

export function otherTwins<K extends RecordKind>(
  kind: K,
  record: RecordTypes[K],
  toErased: ErasedForm | undefined,
): Twins<K> | undefined {
  const field = SPELLED[kind];
  const name = textAt(field, record);
  if (!field || name === undefined || !("accountId" in record)) return undefined;
  const search: Readonly<Record<string, unknown>> = {
    accountId: record.accountId,
    [field]: name,
    // Exactly this one, so that an index finds it: somebody may have opted out of many senders, or many of one.
    ...(kind === "optOuts" && { sender: "sender" in record ? (record.sender ?? null) : null }),
  };
  return { searches: otherSearches(kind, search as Partial<RecordTypes[K]>, toErased), field };
}
