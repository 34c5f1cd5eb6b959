import { present } from "../../../core/present.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { messageTo, scrubAnswer } from "../../erasures/erasure-work.ts";
import type { Session } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";
import type { Walk } from "./erasures.ts";
import { endOfStretch } from "./stretch-end.ts";

/**
 * Takes the number out of answers saved under idempotency keys. The answers stay: a repeat of the request must not send
 * again.
 */
export const eraseAnswers: Walk = async (session, task, { position, looks, goesOnAt }) => {
  const { recipient, accountId, createdAt } = task;
  if (!recipient.startsWith("+")) return {};
  const after = position === "" ? NIL_UUID : position;
  const through = { table: "idempotency_keys", key: "name", type: "uuid" } as const;
  const next = await endOfStretch(session, through, { after, rows: looks });
  goesOnAt(next);
  const rows = await session.query<AnswerRow>(READ, [after, next ?? null]);
  const named = rows.flatMap((row) => {
    const id = messageTo(row.body, recipient);
    return id !== undefined && (uuidTime(id) ?? Number.POSITIVE_INFINITY) <= createdAt
      ? [{ ...row, id }]
      : [];
  });
  const isTheirs = await findTheirs(
    session,
    accountId,
    named.map(({ id }) => id),
  );
  const meant = named.filter(({ id }) => isTheirs(id));
  await session.query(UPDATE, [
    meant.map(({ name }) => name),
    meant.map(({ taken_at }) => taken_at),
    meant.map(({ body }) => scrubAnswer(body, recipient)),
  ]);
  return present({ next });
};

interface AnswerRow {
  readonly name: string;
  readonly body: string;
  readonly taken_at: number;
}

/** A test for NULL in the condition would be no bound of the index: then each stretch read all the rest of the table. */
const READ = `SELECT name, body, taken_at FROM idempotency_keys
  WHERE name > $1 AND name <= coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff') ORDER BY name`;

/** Leaves alone a key that has expired and been taken again meanwhile. */
const UPDATE = `UPDATE idempotency_keys k SET body = t.body
  FROM unnest($1::uuid[], $2::bigint[], $3::text[]) AS t (name, taken_at, body)
  WHERE k.name = ANY(ARRAY[t.name]) AND k.taken_at = t.taken_at`;

/**
 * Which of these messages are the account's, or are gone; all of them if the erasure is in every account. Messages outlive answers, unless
 * they are erased: then the answer could not be changed before.
 */
async function findTheirs(
  session: Session,
  accountId: string | undefined,
  ids: readonly string[],
): Promise<(id: string) => boolean> {
  if (accountId === undefined) return () => true;
  const rows = await session.query<{ id: string }>(
    `SELECT m.id FROM unnest($1::uuid[]) AS t (id) JOIN messages m ON m.id = t.id
     WHERE m.account IS DISTINCT FROM (SELECT number FROM accounts WHERE accounts.id = $2)`,
    [ids, accountId],
  );
  const others = new Set(rows.map(({ id }) => id));
  return (id) => !others.has(id);
}
