import type { RecordKind, RecordTypes } from "../../core/accounts.ts";
import { type ErasedForm, erasedFields, erasedTwins } from "../erased-recipient.ts";
import type { Session } from "./driver.ts";
import type { ErasedNames } from "./erased-names.ts";
import type { RecordRows } from "./record-rows.ts";

/** Senders of one account that one number has opted out of. */
const MAX_TWINS = 1_000;

/** Records of those who were erased: who knows their name finds them, and cannot make them twice. */
export function withErased(
  rows: RecordRows,
  erasedNames: ErasedNames,
): Pick<RecordRows, "select" | "insert"> {
  return {
    async select(session, kind, page) {
      const found = await rows.select(session, kind, page);
      const { where } = page;
      const erased = namesSomebody(kind, where)
        ? erasedFields(kind, where, await erasedNames.form(session))
        : undefined;
      if (!erased) return found;
      const all = [...found, ...(await rows.select(session, kind, { ...page, where: erased }))];
      return all.sort((one, other) => (one.id < other.id ? -1 : 1)).slice(0, page.limit);
    },
    async insert(session, kind, record) {
      const toErased = namesSomebody(kind, record) ? await erasedNames.form(session) : undefined;
      const twins = erasedTwins(kind, record, toErased);
      if (twins && (await hasTwin(rows, session, { kind, record, where: twins.where }))) {
        return { conflict: twins.field };
      }
      return rows.insert(session, kind, record);
    },
  };
}

const AS_IT_IS: ErasedForm = (recipient) => recipient;

function namesSomebody<K extends RecordKind>(kind: K, fields: Partial<RecordTypes[K]>): boolean {
  return erasedFields(kind, fields, AS_IT_IS) !== undefined;
}

interface Twins<K extends RecordKind> {
  readonly kind: K;
  readonly record: RecordTypes[K];
  readonly where: Partial<RecordTypes[K]>;
}

/** Opt-outs of several senders may stand beside one another. */
async function hasTwin<K extends RecordKind>(
  rows: RecordRows,
  session: Session,
  { kind, record, where }: Twins<K>,
): Promise<boolean> {
  const senderOf = (each: object) => ("sender" in each ? each.sender : undefined);
  const found = await rows.select(session, kind, { where, limit: MAX_TWINS });
  return found.some((each) => senderOf(each) === senderOf(record));
}
