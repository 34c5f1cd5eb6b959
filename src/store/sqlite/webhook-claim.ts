import type { Content } from "../../core/message.ts";
import { receivedBody } from "../../core/received-event.ts";
import { isPublic, toWebhookEvent } from "../../core/webhook-event.ts";
import type { ClaimedWebhook, Lane } from "../../core/webhook-outbox.ts";
import { type InboundRow, toInboundMessage } from "../inbound-rows.ts";
import { joinContent, type TimelineRow, toTimelineEntry } from "../message-rows.ts";
import type { Outbox, WebhookClaim } from "../store.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import type { WebhookLog } from "./webhook-log.ts";
import { fromLane, toLane } from "./webhook-rows.ts";

/** `Outbox.claim` and `Outbox.readyLanes`. */
export function createWebhookClaim(
  db: Database,
  { accounts, log }: { readonly accounts: AccountBook; readonly log: WebhookLog },
): Pick<Outbox, "claim" | "readyLanes"> {
  const oldest = db.prepare<ReadyRow>(OLDEST);
  const lease = db.prepare(
    "UPDATE webhooks SET state = 'leased', due_at = ?, claim = claim + 1 WHERE id = ?",
  );
  const remove = db.prepare("DELETE FROM webhooks WHERE id = ?");
  const write = createWriter(db);
  const keyOf = ({ accountId, host }: Lane) => toLane(accounts.byId(accountId)?.number ?? -1, host);

  const claimOne = (row: ReadyRow, lane: Lane, dueAt: number): readonly ClaimedWebhook[] => {
    const written = write(row, lane.accountId);
    const { number: id, message_id: messageId, webhook_sequence: sequence, failures } = row;
    if (!written) {
      remove.run(id);
      log.letNextGo({ messageId, sequence });
      return [];
    }
    lease.run(dueAt, id);
    return [{ id, claim: row.claim + 1, messageId, sequence, lane, failures, ...written }];
  };
  const claimNow = ({ lanes, now, leaseMs }: WebhookClaim) =>
    lanes.flatMap(({ lane, limit }) =>
      oldest.all(keyOf(lane), limit).flatMap((row) => claimOne(row, lane, now + leaseMs)),
    );
  return {
    claim: (request) => db.write(() => claimNow(request), weightOf(request)),
    readyLanes: createLaneScan(db, accounts, keyOf),
  };
}

/** With all that bodies are put together from, in one statement. */
const OLDEST = `
  SELECT w.id AS number, w.message_id, w.sequence AS webhook_sequence, w.failures, w.claim,
    m.recipient AS message_recipient, c.envelope,
    t.position, t.at, t.kind, t.status, t.sequence, t.event_type, t.recipient, t.error, t.detail
  FROM webhooks w
  LEFT JOIN messages m ON m.id = w.message_id
  LEFT JOIN contents c ON c.id = m.content
  LEFT JOIN timeline t ON t.message_id = w.message_id AND t.position = w.position
  WHERE w.state = 'ready' AND w.lane = +? ORDER BY w.id LIMIT ?`;

interface WebhookColumns {
  readonly number: number;
  readonly message_id: string;
  readonly webhook_sequence: number;
  readonly failures: number;
  readonly claim: number;
}

/** NULL where the message is an inbound one, or gone. */
interface MessageColumns {
  readonly message_recipient: string;
  readonly envelope: string;
}

type Nullable<T> = { readonly [Key in keyof T]: T[Key] | null };
type ReadyRow = WebhookColumns & Nullable<MessageColumns & TimelineRow>;

/** A loose scan: it steps from lane to lane, whatever stands in them. */
function createLaneScan(
  db: Database,
  accounts: AccountBook,
  keyOf: (lane: Lane) => string,
): Outbox["readyLanes"] {
  const next = db.prepare<{ lane: string }>(
    "SELECT lane FROM webhooks WHERE state = 'ready' AND lane > ? ORDER BY lane LIMIT 1",
  );
  return ({ after, limit }) =>
    db.read(() => {
      const lanes: Lane[] = [];
      let row = next.get(after ? keyOf(after) : "");
      while (row && lanes.length < limit) {
        lanes.push(fromLane(accounts, row.lane));
        row = next.get(row.lane);
      }
      return lanes;
    });
}

/** Puts together what is delivered, and where; `undefined` where the message is gone. */
function createWriter(db: Database) {
  const ofInbound = createInboundWriter(db);
  const contentOf = createContentReader();
  return (row: ReadyRow, accountId: string): { url: string; body: string } | undefined => {
    if (row.message_recipient === null) return ofInbound(row.message_id);
    const entry = hasEntry(row) ? toTimelineEntry(row) : undefined;
    if (row.envelope === null || !entry || !isPublic(entry)) return undefined;
    const content = contentOf(row.envelope);
    const message = { id: row.message_id, accountId, recipient: row.message_recipient, content };
    return { url: content.callbackUrl ?? "", body: JSON.stringify(toWebhookEvent(message, entry)) };
  };
}

function hasEntry(row: ReadyRow): row is WebhookColumns & Nullable<MessageColumns> & TimelineRow {
  return row.kind !== null;
}

/** The messages of a batch share their content, and come one after the other. */
function createContentReader(): (envelope: string) => Content {
  let last: { readonly envelope: string; readonly content: Content } | undefined;
  return (envelope) => {
    if (last?.envelope !== envelope) last = { envelope, content: joinContent(envelope, null) };
    return last.content;
  };
}

/** The same of a message that a handset wrote. */
function createInboundWriter(db: Database) {
  const find = db.prepare<InboundRow>("SELECT * FROM inbound_messages WHERE id = ?");
  return (id: string): { url: string; body: string } | undefined => {
    const row = find.get(id);
    return row && { url: row.webhook_url ?? "", body: receivedBody(toInboundMessage(row)) };
  };
}

function weightOf({ lanes }: WebhookClaim): number {
  return lanes.reduce((sum, { limit }) => sum + limit, 0);
}
