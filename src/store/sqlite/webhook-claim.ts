import { receivedBody } from "../../core/received-event.ts";
import { isPublic, toWebhookEvent } from "../../core/webhook-event.ts";
import type { ClaimedWebhook, Lane } from "../../core/webhook-outbox.ts";
import type { Outbox, WebhookClaim } from "../store.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import { type InboundRow, toInboundMessage } from "./inbound-rows.ts";
import { joinContent, type TimelineRow, toTimelineEntry } from "./rows.ts";
import type { WebhookLog } from "./webhook-log.ts";
import { fromLane, toLane } from "./webhook-rows.ts";

/** `Outbox.claim` and `Outbox.readyLanes`. */
export function createWebhookClaim(
  db: Database,
  { accounts, log }: { readonly accounts: AccountBook; readonly log: WebhookLog },
): Pick<Outbox, "claim" | "readyLanes"> {
  const oldest = db.prepare<ReadyRow>(
    `SELECT id, message_id, sequence, position, failures, claim FROM webhooks
     WHERE state = 'ready' AND lane = ? ORDER BY id LIMIT ?`,
  );
  const lease = db.prepare(
    "UPDATE webhooks SET state = 'leased', due_at = ?, claim = claim + 1 WHERE id = ?",
  );
  const remove = db.prepare("DELETE FROM webhooks WHERE id = ?");
  const write = createWriter(db);
  const keyOf = ({ accountId, host }: Lane) => toLane(accounts.byId(accountId)?.number ?? -1, host);

  const claimOne = (row: ReadyRow, lane: Lane, dueAt: number): readonly ClaimedWebhook[] => {
    const written = write(row, lane.accountId);
    if (!written) {
      remove.run(row.id);
      log.letNextGo({ messageId: row.message_id, sequence: row.sequence });
      return [];
    }
    lease.run(dueAt, row.id);
    const { id, message_id: messageId, sequence, failures } = row;
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

interface ReadyRow {
  readonly id: number;
  readonly message_id: string;
  readonly sequence: number;
  readonly position: number;
  readonly failures: number;
  readonly claim: number;
}

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
  const findMessage = db.prepare<{ recipient: string; content: number }>(
    "SELECT recipient, content FROM messages WHERE id = ?",
  );
  const findContent = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  const findEntry = db.prepare<TimelineRow>(
    `SELECT position, at, kind, status, sequence, event_type, recipient, error, detail
     FROM timeline WHERE message_id = ? AND position = ?`,
  );
  const ofInbound = createInboundWriter(db);
  return (row: ReadyRow, accountId: string): { url: string; body: string } | undefined => {
    const id = row.message_id;
    const message = findMessage.get(id);
    const kept = message && findContent.get(message.content);
    const found = findEntry.get(id, row.position);
    const entry = found && toTimelineEntry(found);
    if (!message) return ofInbound(id);
    if (!kept || !entry || !isPublic(entry)) return undefined;
    const content = joinContent(kept.envelope, null);
    const event = toWebhookEvent({ id, accountId, recipient: message.recipient, content }, entry);
    return { url: content.callbackUrl ?? "", body: JSON.stringify(event) };
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
