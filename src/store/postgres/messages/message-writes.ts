import { isPublic } from "../../../core/webhooks/webhook-event.ts";
import { fromParts, toJson } from "../../messages/message-rows.ts";
import type { Transaction } from "../database/transactions.ts";
import type { Changes, Entry, LockedMessage } from "./message-log.ts";

/** Writes messages, timeline entries, events, and which bodies are wiped or kept, in one statement. */
export function writeMessages(session: Transaction, changes: Changes): void {
  const { moved, entries, wiped, kept } = changes;
  if (moved.size + wiped.size + kept.size === 0) return;
  const messages = [...moved].flatMap((id) => changes.messages.get(id) ?? []);
  const events = entries.filter(({ entry }) => isPublic(entry));
  session.run(WRITE, [
    ...messageColumns(messages),
    ...entryColumns(entries),
    events.map(({ message }) => message.id),
    events.map(({ entry }) => entry.position),
    events.map(({ message }) => message.account),
    [...wiped],
    [...kept].sort(),
  ]);
}

function messageColumns(messages: readonly LockedMessage[]) {
  return [
    messages.map(({ id }) => id),
    messages.map(({ progress }) => progress.status),
    messages.map(({ progress }) => fromParts(progress.parts)),
    messages.map(({ progress }) => progress.sequence),
    messages.map(({ progress }) => progress.position),
    messages.map(({ progress }) => toJson(progress.error)),
  ];
}

function entryColumns(entries: readonly Entry[]) {
  return [
    entries.map(({ message }) => message.id),
    entries.map(({ entry }) => entry.position),
    entries.map(({ entry }) => entry.at),
    entries.map(({ entry }) => entry.kind),
    entries.map(({ entry }) => entry.status),
    entries.map(({ entry }) => entry.sequence ?? null),
    entries.map(({ entry }) => entry.eventType ?? null),
    entries.map(({ entry }) => entry.recipient ?? null),
    entries.map(({ entry }) => toJson(entry.error)),
    entries.map(({ entry }) => toJson(entry.detail)),
  ];
}

/** Events are numbered after the commit, once their order is known. */
const WRITE = `WITH moved AS (
    UPDATE messages m SET status = t.status, parts = t.parts, sequence = t.sequence, position = t.position,
      error = t.error
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::int[], $5::int[], $6::text[])
      AS t (id, status, parts, sequence, position, error)
    WHERE m.id = t.id
  ), new_entries AS (
    INSERT INTO timeline (message_id, position, at, kind, status, sequence, event_type, recipient, error, detail)
    SELECT * FROM unnest($7::uuid[], $8::int[], $9::bigint[], $10::text[], $11::text[], $12::int[], $13::text[],
      $14::text[], $15::text[], $16::text[])
  ), told AS (
    INSERT INTO new_events (subject_id, position, account) SELECT * FROM unnest($17::uuid[], $18::int[], $19::int[])
  ), wiped AS (
    UPDATE contents c SET body = NULL FROM unnest($20::uuid[]) AS t (id)
    WHERE c.id = t.id AND c.messages = 1 AND c.body IS NOT NULL
  )
  UPDATE contents c SET is_kept = true FROM unnest($21::uuid[]) AS t (id)
  WHERE c.id = t.id AND c.messages > 1 AND NOT c.is_kept`;
