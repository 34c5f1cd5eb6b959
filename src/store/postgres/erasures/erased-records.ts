import type { RecordKind, RecordTypes } from "../../../core/records/accounts.ts";
import { namedRecipient, otherSearches, otherTwins } from "../../erasures/erased-recipient.ts";
import type { Session } from "../database/driver.ts";
import type { RecordRows } from "../records/record-rows.ts";
import type { ErasedNames } from "./erased-names.ts";

/** Adds erased forms and other spellings: who knows the recipient finds its records, and cannot create them twice. */
export function withErased(
  rows: RecordRows,
  erasedNames: ErasedNames,
): Pick<RecordRows, "select" | "insert"> {
  const formFor = async <K extends RecordKind>(session: Session, kind: K, fields: Partial<RecordTypes[K]>) =>
    namedRecipient(kind, fields) === undefined ? undefined : erasedNames.form(session);
  return {
    async select(session, kind, page) {
      const all = await rows.select(session, kind, page);
      const { where } = page;
      const others = otherSearches(kind, where, await formFor(session, kind, where));
      if (others.length === 0) return all;
      for (const other of others) all.push(...(await rows.select(session, kind, { ...page, where: other })));
      return all.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, page.limit);
    },
    async insert(session, kind, record) {
      const twins = otherTwins(kind, record, await formFor(session, kind, record));
      for (const where of twins?.searches ?? []) {
        const found = await rows.select(session, kind, { where, limit: 1 });
        if (twins && found.length > 0) return { conflict: twins.field };
      }
      return rows.insert(session, kind, record);
    },
  };
}
