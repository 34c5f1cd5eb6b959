import { present } from "../../../core/present.ts";
import { firstUuidAt } from "../../../core/uuid.ts";
import { createIsNamed, inJson } from "../../erasures/erasure-work.ts";
import type { Session, SqlValue } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";
import { findOwners } from "../inbound/load-inbound.ts";
import { removeInbound } from "../inbound/prune-inbound.ts";
import type { Walk } from "./erasures.ts";
import { accountStretch, endOfStretch, OF_STRETCH } from "./stretch-end.ts";

/** A table whose rows are deleted if they name the recipient. Its keys are ids that contain their time. */
interface Sweep {
  readonly table: string;
  /** As SQL names the key's type. */
  readonly type: "uuid" | "text";
  /** Which rows are meant: $3 the recipient, $4 the account's id, or NULL for all. */
  readonly test: string;
  /** The form of the recipient in the test; absent: as it is. */
  readonly needle?: (recipient: string) => string;
  /** SQL of a text that has to name the recipient, which the test also finds within longer numbers and addresses. */
  readonly names?: string;
  /** What to do with the rows that `where` selects; absent: they are deleted. */
  readonly work?: (session: Session, where: string, values: readonly SqlValue[]) => Promise<unknown>;
  /** For large rows: the share of the usual number of rows that one stretch examines. */
  readonly share?: number;
}

const IN_ACCOUNT = "($4::text IS NULL OR account_id = $4)";

/** Each leaves alone the rows that are newer than the request to erase. */
export const SWEEPS: readonly Walk[] = [
  sweep({
    table: "sandbox_messages",
    type: "text",
    test: `(recipient = $3 OR strpos(lower(rendered COLLATE "C"), $3) > 0) AND ${IN_ACCOUNT}`,
    needle: inJson,
    names: "recipient || ' ' || rendered",
    share: 0.1,
  }),
  sweep({
    table: "inbound_messages",
    type: "uuid",
    test: `sender = $3 AND ${IN_ACCOUNT}`,
    work: (session, where, values) =>
      removeInbound(session, `SELECT id FROM inbound_messages WHERE ${where}`, values),
  }),
  // Callers choose external ids: one may be the recipient's number or address.
  sweep({
    table: "contacts",
    type: "text",
    test: `lower(external_id COLLATE "C") IN ($3, ltrim($3, '+')) AND ${IN_ACCOUNT}`,
    work: (session, where, values) =>
      session.query(`UPDATE contacts SET external_id = NULL WHERE ${where}`, values),
  }),
];

function sweep({ table, type, test, needle, names, work, share = 1 }: Sweep): Walk {
  const where = `id > $1::${type} AND id <= $2::${type} AND ${test}`;
  const remove: typeof work = (session, rows, values) =>
    session.query(`DELETE FROM ${table} WHERE ${rows}`, values);
  return async (session, { recipient, accountId, createdAt }, { position, looks, goesOnAt }) => {
    const latest = firstUuidAt(createdAt + 1);
    const from = position === "" ? NIL_UUID : position;
    const end = await endOfStretch(session, { table, type }, { after: from, rows: looks * share });
    const to = end !== undefined && end < latest ? end : latest;
    const next = to === latest ? undefined : to;
    goesOnAt(next);
    const values = [from, to, needle?.(recipient) ?? recipient, accountId ?? null];
    if (names !== undefined) await removeNamed(session, { table, where, names }, { recipient, values });
    else await (work ?? remove)(session, where, values);
    return present({ next });
  };
}

type Named = Required<Pick<Sweep, "table" | "names">> & { readonly where: string };

/** Deletes those of the rows that `where` selects which really name the recipient. */
async function removeNamed(
  session: Session,
  { table, where, names }: Named,
  { recipient, values }: { readonly recipient: string; readonly values: readonly SqlValue[] },
): Promise<void> {
  const sql = `SELECT id, ${names} AS text FROM ${table} WHERE ${where}`;
  const rows = await session.query<{ id: string; text: string }>(sql, values);
  const isNamed = createIsNamed(recipient);
  const named = rows.filter(({ text }) => isNamed(text)).map(({ id }) => id);
  await session.query(`DELETE FROM ${table} WHERE id = ANY(ARRAY(SELECT unnest($1::text[])))`, [named]);
}

/** Deletes the recipient's counts, which are found by an index on the recipient. */
export const eraseCounts: Walk = async (session, task, stretch) => {
  const { from, to, ...rest } = await accountStretch(session, task, stretch);
  const values = [task.recipient.toLowerCase(), task.accountId ?? null, from, to];
  await session.query(
    `DELETE FROM sms_usage u USING accounts a WHERE u.account = a.number AND u.recipient = $1 AND ${OF_STRETCH}`,
    values,
  );
  await session.query(
    `DELETE FROM soft_bounces s USING accounts a WHERE s.account_id = a.id AND s.email = $1 AND ${OF_STRETCH}`,
    values,
  );
  return rest;
};

/** Deletes waiting parts of messages from the recipient's handset. The number that they went to tells their account. */
export const eraseParts: Walk = async (session, { recipient, accountId }) => {
  const rows = await session.query<{ connector_id: string; recipient: string }>(
    `SELECT DISTINCT ${CAME_OVER} AS connector_id, recipient FROM inbound_parts p WHERE sender = $1`,
    [recipient],
  );
  const places = rows.map((row) => ({ connectorId: row.connector_id, to: row.recipient }));
  const ownerOf = await findOwners(session, places);
  const meant = places.filter((place) => accountId === undefined || ownerOf(place) === accountId);
  await session.query(
    `DELETE FROM inbound_parts p USING unnest($1::text[], $2::text[]) AS t (connector_id, recipient)
     WHERE ${CAME_OVER} = t.connector_id AND p.recipient = t.recipient AND p.sender = $3`,
    [meant.map(({ connectorId }) => connectorId), meant.map(({ to }) => to), recipient],
  );
  return {};
};

/** As `cameOver` reads it. */
const CAME_OVER = "coalesce(p.came_over, p.connector_id)";
