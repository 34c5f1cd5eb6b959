import { dropShownNames } from "../../../core/email/drop-shown-names.ts";
import type { WordErasure } from "../../../core/messages/erased-words.ts";
import { dropName } from "../../../core/messages/erasure.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { isOpen } from "../../../core/messages/part.ts";
import { scrubEntry } from "../../erasures/erasure-work.ts";
import { TIMELINE_COLUMNS, type TimelineRow, toIndexes } from "../../messages/message-rows.ts";
import type { SandboxRow } from "../../sandbox-rows.ts";
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
  /** By message. */
  readonly wordErasures: ReadonlyMap<string, WordErasure>;
}

/** Takes the recipient out of everything that belongs to emails to several, inside a transaction that has locked them. */
export async function redactRows(session: Session, redaction: Redaction): Promise<void> {
  const ids = redaction.messages.map(({ id }) => id);
  await closeJobs(session, redaction);
  await redactContents(session, redaction);
  await scrubTimelines(session, redaction, ids);
  await scrubSandbox(session, redaction, ids);
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

async function scrubTimelines(
  session: Session,
  { scrub, wordErasures }: Redaction,
  ids: readonly string[],
): Promise<void> {
  const rows = await session.query<TimelineRow & { readonly message_id: string }>(
    `SELECT r.* FROM unnest($1::uuid[]) AS t (id),
       LATERAL (SELECT message_id, ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = t.id OFFSET 0) AS r`,
    [ids],
  );
  const scrubbed = rows.flatMap(({ message_id: id, ...row }) => {
    const words = wordErasures.get(id);
    return words ? [{ id, position: row.position, ...scrubEntry(row, { scrub, words }) }] : [];
  });
  await session.query(
    `UPDATE timeline r SET recipient = t.recipient, error = t.error, detail = t.detail
     FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[])
       AS t (message_id, position, recipient, error, detail)
     WHERE r.message_id = t.message_id AND r.position = t.position`,
    [
      scrubbed.map(({ id }) => id),
      scrubbed.map(({ position }) => position),
      scrubbed.map(({ recipient }) => recipient),
      scrubbed.map(({ error }) => error),
      scrubbed.map(({ detail }) => detail),
    ],
  );
}

async function scrubSandbox(
  session: Session,
  { scrub, recipient: address }: Redaction,
  ids: readonly string[],
): Promise<void> {
  const rows = await session.query<Pick<SandboxRow, "id" | "recipient" | "rendered" | "receipt">>(
    "SELECT id, recipient, rendered, receipt FROM sandbox_messages WHERE message_id = ANY($1)",
    [ids],
  );
  await session.query(
    `UPDATE sandbox_messages r SET recipient = t.recipient, rendered = t.rendered, receipt = t.receipt
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS t (id, recipient, rendered, receipt)
     WHERE r.id = ANY(ARRAY[t.id])`,
    [
      rows.map(({ id }) => id),
      rows.map(({ recipient }) => scrub(recipient)),
      rows.map(({ rendered }) => scrub(dropShownNames(rendered, address))),
      rows.map(({ receipt }) => (receipt === null ? null : scrub(receipt))),
    ],
  );
}
