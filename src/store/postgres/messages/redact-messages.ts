import { dropShownNames } from "../../../core/email/drop-shown-names.ts";
import { dropName } from "../../../core/messages/erasure.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { isOpen } from "../../../core/messages/part.ts";
import { toIndexes } from "../../messages/message-rows.ts";
import type { Session } from "../database/driver.ts";
import type { LockedMessage } from "./message-log.ts";

export interface LockedJob {
  readonly id: number;
  readonly message_id: string;
  readonly parts: string | null;
  readonly is_leased: boolean;
}

export interface Redaction {
  /** The messages as they were saved, without the recipient. */
  readonly messages: readonly LockedMessage[];
  readonly jobs: readonly LockedJob[];
  readonly recipient: string;
  readonly scrub: (text: string) => string;
}

/** Takes the recipient out of everything that belongs to emails to several, inside a transaction that has locked them. */
export async function redactRows(session: Session, redaction: Redaction): Promise<void> {
  const ids = redaction.messages.map(({ id }) => id);
  await closeJobs(session, redaction);
  await redactContents(session, redaction);
  for (const table of TEXT_TABLES) await scrubTable(session, table, { ...redaction, ids });
  await session.query(FORGET_HEADS, [ids]);
}

/** By lists, as in `message-removal.ts`. */
const FORGET_HEADS = `UPDATE webhook_attempts SET head = NULL
  WHERE webhook = ANY(ARRAY(SELECT id FROM webhooks WHERE message_id = ANY($1)))`;

/** Deletes jobs that have no open part left. */
async function closeJobs(session: Session, { messages, jobs }: Redaction): Promise<void> {
  const open = new Map(
    messages.map(({ id, progress }) => [
      id,
      progress.parts.flatMap((part, index) => (isOpen(part) ? [index] : [])),
    ]),
  );
  const over = jobs.filter(({ message_id: id, parts }) => {
    const covered = toIndexes(parts).parts;
    return open.get(id)?.every((index) => covered?.includes(index) === false) ?? false;
  });
  await session.query("DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT unnest($1::bigint[])))", [
    over.map(({ id }) => id),
  ]);
}

async function redactContents(session: Session, { messages, recipient, scrub }: Redaction): Promise<void> {
  const ids = [...new Set(messages.map(({ content }) => content))];
  const rows = await session.query<{ id: string; envelope: string }>(
    "SELECT c.id, c.envelope FROM unnest($1::uuid[]) AS t (id) JOIN contents c ON c.id = t.id",
    [ids],
  );
  const envelopes = rows.map(({ envelope }) =>
    scrub(JSON.stringify(dropName(JSON.parse(envelope) as EmailContent, recipient))),
  );
  await session.query(
    `UPDATE contents c SET envelope = t.envelope FROM unnest($1::uuid[], $2::text[]) AS t (id, envelope)
     WHERE c.id = t.id`,
    [rows.map(({ id }) => id), envelopes],
  );
}

/** A table with three columns of text that may name the recipient, read as `a`, `b`, `c`; rows are found by message and `key`. */
interface TextTable {
  /** `b` is an email as the simulator stores it. */
  readonly isMail?: true;
  readonly select: string;
  readonly update: string;
}

const TEXT_TABLES: readonly TextTable[] = [
  {
    select: `SELECT r.message_id, r.position::text AS key, r.recipient AS a, r.error AS b, r.detail AS c
      FROM unnest($1::uuid[]) AS t (id), LATERAL (SELECT * FROM timeline WHERE message_id = t.id OFFSET 0) AS r`,
    update: `UPDATE timeline r SET recipient = t.a, error = t.b, detail = t.c
      FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[]) AS t (message_id, position, a, b, c)
      WHERE r.message_id = t.message_id AND r.position = t.position`,
  },
  {
    isMail: true,
    select: `SELECT r.message_id, r.id AS key, r.recipient AS a, r.rendered AS b, r.receipt AS c
      FROM sandbox_messages r WHERE r.message_id = ANY($1)`,
    update: `UPDATE sandbox_messages r SET recipient = t.a, rendered = t.b, receipt = t.c
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) AS t (message_id, id, a, b, c)
      WHERE r.id = ANY(ARRAY[t.id])`,
  },
];

interface TextRow {
  readonly message_id: string;
  readonly key: string;
  readonly a: string | null;
  readonly b: string | null;
  readonly c: string | null;
}

async function scrubTable(
  session: Session,
  { select, update, isMail }: TextTable,
  { ids, scrub, recipient }: Pick<Redaction, "scrub" | "recipient"> & { readonly ids: readonly string[] },
): Promise<void> {
  const rows = await session.query<TextRow>(select, [ids]);
  const scrubbed = (text: string | null) => (text === null ? null : scrub(text));
  const named = (text: string | null) => (isMail && text !== null ? dropShownNames(text, recipient) : text);
  await session.query(update, [
    rows.map((row) => row.message_id),
    rows.map(({ key }) => key),
    rows.map(({ a }) => scrubbed(a)),
    rows.map(({ b }) => scrubbed(named(b))),
    rows.map(({ c }) => scrubbed(c)),
  ]);
}
