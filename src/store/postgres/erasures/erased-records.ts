import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { namedRecipient, otherSearches, otherTwins } from "../../erasures/erased-recipient.ts";
import type { RecordRows } from "../records/record-rows.ts";
import type { ErasedNames } from "./erased-names.ts";

/**
 * Makes searches and inserts consider erased forms and other spellings: a caller that knows the recipient finds its records, and
 * cannot create them twice.
 */
export function withErased(
  rows: RecordRows,
  erasedNames: ErasedNames,
): Pick<RecordRows, "select" | "insert"> {
  const isNamed = <K extends RecordKind>(kind: K, fields: Partial<RecordTypes[K]>) =>
    namedRecipient(kind, fields) !== undefined;
  return {
    async select(session, kind, page) {
      const all = await rows.select(session, kind, page);
      const { where } = page;
      const others = otherSearches(
        kind,
        where,
        isNamed(kind, where) ? await erasedNames.form(session) : undefined,
      );
      if (others.length === 0) return all;
      for (const other of others) all.push(...(await rows.select(session, kind, { ...page, where: other })));
      return all.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, page.limit);
    },
    async insert(session, kind, record) {
      const form = isNamed(kind, record) ? await erasedNames.formToList(session) : undefined;
      const twins = otherTwins(kind, record, form);
      for (const where of twins?.searches ?? []) {
        const found = await rows.select(session, kind, { where, limit: 1 });
        if (twins && found.length > 0) return { conflict: twins.field };
      }
      return rows.insert(session, kind, record);
    },
  };
}
