import type { ClaimedWebhook, Lane } from "../../../core/webhooks/webhook-outbox.ts";
import type { InboundRow } from "../../inbound/inbound-rows.ts";
import { passOver } from "../../pass-over.ts";
import type { Outbox, WebhookClaim } from "../../store.ts";
import { eventsOf, someOf } from "../../webhooks/some-lanes.ts";
import {
  createBodyWriter,
  type EventRow,
  inboundBody,
  type WebhookBody,
} from "../../webhooks/webhook-body.ts";
import { toLane } from "../../webhooks/webhook-rows.ts";
import type { Database } from "../database/database.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { fromLane } from "./from-lane.ts";
import type { WebhookLog } from "./webhook-log.ts";

/** `Outbox.claim` and `Outbox.readyLanes`. */
export function createWebhookClaim(
  db: Database,
  { accounts, log }: { readonly accounts: AccountCache; readonly log: WebhookLog },
): Pick<Outbox, "claim" | "readyLanes"> {
  const readSome = createReadSome(db);
  const lease = db.prepare(
    "UPDATE webhooks SET state = 'leased', due_at = ?, claim = claim + 1 WHERE id = ?",
  );
  const remove = db.prepare("DELETE FROM webhooks WHERE id = ?");
  const putOff = db.prepare(
    "UPDATE webhooks SET state = 'waiting', due_at = ? WHERE id = ? AND state = 'ready'",
  );
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
  const claimNow = ({ lanes, now, leaseMs }: WebhookClaim, take: Take) => {
    const taken: TakenRow[] = [];
    return lanes.flatMap(({ lane, limit, isNewestFirst }) => {
      const rows = readSome([keyOf(lane), limit], isNewestFirst ?? false, take);
      taken.push(...rows);
      take(taken);
      return rows.flatMap((row) => claimOne(row, lane, now + leaseMs));
    });
  };
  return {
    claim: (request) =>
      passOver({
        limit: eventsOf(request),
        now: request.now,
        run: (limit, take: Take) => db.write(() => claimNow(someOf(request, limit), take), limit),
        putOff: ({ number }, dueAt) => db.write(() => putOff.run(dueAt, number)),
      }),
    readyLanes: createLaneScan(db, accounts, keyOf),
  };
}

/**
 * Reads the first events of a lane. If it fails because of one of them, it calls `take` with the oldest: these are put off until that
 * one is among them.
 */
function createReadSome(db: Database) {
  const oldest = db.prepare<ReadyRow>(readySql("w.id"));
  const newest = db.prepare<ReadyRow>(readySql("w.id DESC"));
  const withoutMessages = db.prepare<TakenRow>(
    "SELECT id AS number, message_id FROM webhooks WHERE state = 'ready' AND lane = +? ORDER BY id LIMIT ?",
  );
  return (of: readonly [lane: string, limit: number], isNewestFirst: boolean, take: Take) => {
    try {
      return (isNewestFirst ? newest : oldest).all(...of);
    } catch (error) {
      take(withoutMessages.all(...of));
      throw error;
    }
  };
}

/** The first ready events of a lane, with everything that their bodies are made from. */
const readySql = (order: "w.id" | "w.id DESC") => `
  SELECT w.id AS number, w.message_id, w.sequence AS webhook_sequence, w.failures, w.claim,
    m.recipient AS message_recipient, coalesce(m.envelope, c.envelope) AS envelope,
    t.position, t.at, t.kind, t.status, t.sequence, t.event_type, t.recipient, t.error, t.detail
  FROM webhooks w
  LEFT JOIN messages m ON m.id = w.message_id
  LEFT JOIN contents c ON c.id = m.content
  LEFT JOIN timeline t ON t.message_id = w.message_id AND t.position = w.position
  WHERE w.state = 'ready' AND w.lane = +? ORDER BY ${order} LIMIT ?`;

type TakenRow = Pick<ReadyRow, "number" | "message_id">;

type Take = (rows: readonly TakenRow[]) => void;

interface ReadyRow extends EventRow {
  readonly number: number;
  readonly webhook_sequence: number;
  readonly failures: number;
  readonly claim: number;
}

/** A loose index scan takes one step for each lane, however many events are in it. */
function createLaneScan(
  db: Database,
  accounts: AccountCache,
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

/** Makes the body to deliver and its URL; `undefined` if the message has been deleted. */
function createWriter(db: Database): (row: ReadyRow, accountId: string) => WebhookBody | undefined {
  const findInbound = db.prepare<InboundRow>("SELECT * FROM inbound_messages WHERE id = ?");
  const write = createBodyWriter();
  return (row, accountId) => {
    if (row.message_recipient !== null) return write(row, accountId);
    const inbound = findInbound.get(row.message_id);
    return inbound && inboundBody(inbound);
  };
}
