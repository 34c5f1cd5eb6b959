import type { TimelineEntry } from "../../../core/messages/message.ts";
import { isPublic, type PublicEntry, toWebhookId } from "../../../core/webhooks/webhook-event.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { isBlocking, toLane, type WebhookRow } from "../../webhooks/webhook-rows.ts";
import type { Session } from "../database/driver.ts";
import type { Transaction } from "../database/transactions.ts";
import type { LockedMessage } from "../messages/message-log.ts";

/**
 * Adds a webhook for each public entry. Returns the lanes that have new ready ones. A transaction that finishes a webhook
 * updates its row first, and looks for the next one in a later statement, so that it cannot miss one that is added here.
 */
export async function addWebhooks(session: Transaction, entries: readonly NewWebhook[]): Promise<Lane[]> {
  const events = entries.flatMap(({ message, entry }) =>
    message.callbackHost !== null && isPublic(entry) ? [{ message, entry, host: message.callbackHost }] : [],
  );
  if (events.length === 0) return [];
  const isHeld = await findHeld(session, events);
  insert(session, events, isHeld);
  const ready = events.filter((event) => !isHeld(event));
  const lanes = ready.map(({ message: { account, accountId }, host }) => {
    return [toLane(account, host), { accountId, host }] as const;
  });
  return [...new Map(lanes).values()];
}

/** A timeline entry and its message, with the host that the webhooks go to. */
export interface NewWebhook {
  readonly message: Callback;
  readonly entry: TimelineEntry;
}

type Callback = Pick<LockedMessage, "id" | "account" | "accountId" | "callbackHost">;

interface NewEvent {
  readonly message: Callback;
  readonly entry: PublicEntry;
  readonly host: string;
}

/** Which events are held back by the message's previous one, new or stored. */
async function findHeld(
  session: Session,
  events: readonly NewEvent[],
): Promise<(event: NewEvent) => boolean> {
  const held = new Set(events.map(({ message, entry }) => toWebhookId(message.id, entry.sequence + 1)));
  const later = events.filter((event) => event.entry.sequence > 1 && !held.has(ownKey(event)));
  if (later.length > 0) {
    const rows = await session.query<WebhookRow>(BEFORE, [
      later.map(({ message }) => message.id),
      later.map(({ entry }) => entry.sequence - 1),
    ]);
    for (const row of rows) if (isBlocking(row)) held.add(toWebhookId(row.message_id, row.sequence + 1));
  }
  return (event) => held.has(ownKey(event));
}

function ownKey({ message, entry }: NewEvent): string {
  return toWebhookId(message.id, entry.sequence);
}

/**
 * Locks the previous webhooks: one that is being settled at this moment would not see the new one that it has to make ready. By a
 * list of ids, as in `lockWebhooks`.
 */
const BEFORE = `SELECT w.message_id, w.sequence, w.state, w.failures
  FROM webhooks w WHERE w.id = ANY(ARRAY(
    SELECT b.id FROM unnest($1::uuid[], $2::int[]) AS t (message_id, sequence),
      LATERAL (SELECT b.id FROM webhooks b WHERE b.message_id = t.message_id AND b.sequence = t.sequence OFFSET 0) AS b))
  ORDER BY w.message_id::text COLLATE "C", w.sequence FOR SHARE OF w`;

function insert(
  session: Transaction,
  events: readonly NewEvent[],
  isHeld: (event: NewEvent) => boolean,
): void {
  session.run(INSERT, [
    events.map(({ message }) => message.id),
    events.map(({ entry }) => entry.sequence),
    events.map(({ entry }) => entry.position),
    events.map(({ message }) => message.account),
    events.map(({ message, host }) => toLane(message.account, host)),
    events.map(({ entry }) => entry.eventType),
    events.map((event) => (isHeld(event) ? "held" : "ready")),
    events.map(({ entry }) => entry.at),
  ]);
}

const INSERT = `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
  SELECT * FROM unnest($1::uuid[], $2::int[], $3::int[], $4::int[], $5::text[], $6::text[], $7::text[], $8::bigint[])`;
