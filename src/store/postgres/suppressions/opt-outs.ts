import type { ErasedForm } from "../../erasures/erased-recipient.ts";
import type { OptOutTarget } from "../../inbound/take-inbound.ts";
import type { Session } from "../database/driver.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";

/** Indexes of the targets that have opted out, from the sender or from all senders of the account; without a sender, from any. */
export async function findOptedOut(
  session: Session,
  erasedNames: ErasedNames,
  targets: readonly OptOutTarget[],
): Promise<ReadonlySet<number>> {
  if (targets.length === 0) return new Set();
  const known = erasedNames.known();
  const answer = await ask(session, targets, known);
  if (known || !answer.hasErased) return answer.indexes;
  // Somebody has been erased for the first time since this process started: ask again with the erased forms.
  return (await ask(session, targets, await erasedNames.form(session))).indexes;
}

async function ask(session: Session, targets: readonly OptOutTarget[], toErased: ErasedForm | undefined) {
  const [row] = await session.query<AnswerRow>(OPTED_OUT, [
    targets.map(({ accountId }) => accountId),
    targets.map(({ sender }) => sender ?? null),
    targets.map(({ recipient }) => recipient),
    targets.map(({ recipient }) => toErased?.(recipient) ?? null),
  ]);
  const places = JSON.parse(row?.places ?? "[]") as number[];
  return { indexes: new Set(places.map((place) => place - 1)), hasErased: row?.has_erased === true };
}

interface AnswerRow {
  /** JSON; `null`: none. */
  readonly places: string | null;
  readonly has_erased: boolean;
}

/**
 * A subquery for each index, and for each form of the recipient: for a list of forms PostgreSQL 15 may read all opt-outs of an
 * account, if it takes them to be few. `OFFSET 0` keeps it from reading them all into a hash table.
 */
const isOut = (recipient: string, andSender = "") => `EXISTS (SELECT 1 FROM opt_outs o
  WHERE o.account_id = t.account_id AND o.recipient = t.${recipient} ${andSender} OFFSET 0)`;

const OF_ALL = "AND o.sender IS NULL";
const OF_SENDER = "AND o.sender = t.sender";

const OPTED_OUT = `SELECT EXISTS (SELECT 1 FROM meta WHERE name = 'erasure_pepper') AS has_erased,
    json_agg(t.place)::text AS places
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
    AS t (account_id, sender, recipient, erased, place)
  WHERE ${isOut("recipient", OF_ALL)} OR ${isOut("erased", OF_ALL)}
    OR ${isOut("recipient", OF_SENDER)} OR ${isOut("erased", OF_SENDER)}
    OR t.sender IS NULL AND (${isOut("recipient")} OR ${isOut("erased")})`;
