import type { MessageStatus } from "../../core/messages/message.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { FINAL_STATUSES } from "../messages/final-statuses.ts";
import type { Retention } from "../store.ts";
import { UNFINISHED } from "../webhooks/webhook-rows.ts";
import type { Database } from "./database/database.ts";
import { createInboundPrune } from "./inbound/prune-inbound.ts";
import type { IdempotencyKeys } from "./intake/idempotency-keys.ts";
import type { Contents } from "./messages/contents.ts";
import { createMessageRemoval } from "./messages/message-removal.ts";
import { createOldWalk } from "./old-walk.ts";
import type { SuppressionList } from "./suppressions/suppression-list.ts";

export interface PruneParts {
  readonly contents: Contents;
  readonly keys: IdempotencyKeys;
  readonly suppressions: SuppressionList;
}

type Pruning = Omit<Retention, "prepareDays">;

/** The methods of `Retention` that delete what is past its retention. */
export function createPrune(db: Database, { contents, keys, suppressions }: PruneParts): Pruning {
  const wipe = createWipe(db, contents);
  const parked = db.prepare(
    // Ids rise with time, so the oldest come first.
    `DELETE FROM parked_receipts WHERE id IN
       (SELECT id FROM (SELECT id, at FROM parked_receipts ORDER BY id LIMIT ?2) WHERE at < ?1)`,
  );
  const usage = db.prepare(
    `DELETE FROM sms_usage WHERE (account, recipient, hour) IN
       (SELECT account, recipient, hour FROM sms_usage WHERE hour < ? LIMIT ?)`,
  );
  const sandbox = db.prepare(
    "DELETE FROM sandbox_messages WHERE id IN (SELECT id FROM sandbox_messages WHERE id < ? ORDER BY id LIMIT ?)",
  );
  const pruneReceived = (before: number, limit: number) => {
    const rows = parked.run(before, limit) + usage.run(Math.floor(before / HOUR_MS), limit);
    return rows + sandbox.run(firstUuidAt(before), limit);
  };
  return {
    pruneMessages: createMessagePrune(db),
    pruneInbound: createInboundPrune(db),
    pruneIdempotencyKeys: (now, limit) => db.write(() => keys.prune(now, limit), limit),
    pruneSuppressions: (now, limit) => db.write(() => suppressions.prune(now, limit), limit),
    pruneReceived: (before, limit) => db.write(() => pruneReceived(before, limit), limit),
    wipeContents: (limit) => db.write(() => wipe(limit), limit),
  };
}

interface OldRow {
  readonly id: string;
  readonly status: MessageStatus;
  readonly content: number;
}

function createMessagePrune(db: Database): Pruning["pruneMessages"] {
  const telling = db.prepare(
    `SELECT 1 FROM webhooks WHERE message_id = ?1 AND (${UNFINISHED} OR state = 'failed'
       AND EXISTS (SELECT 1 FROM webhook_attempts WHERE webhook = webhooks.id AND at >= ?2)) LIMIT 1`,
  );
  const moving = db.prepare("SELECT 1 FROM timeline WHERE message_id = ? AND at >= ? LIMIT 1");
  const isQuiet = (id: string, since: number | undefined) =>
    since === undefined || moving.get(id, since) === undefined;
  return createOldWalk<OldRow>(db, {
    sql: "SELECT id, status, content FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
    isOver: ({ id, status }, { quietSince }) =>
      FINAL_STATUSES.has(status) &&
      telling.get(id, quietSince ?? null) === undefined &&
      isQuiet(id, quietSince),
    remove: createMessageRemoval(db),
  });
}

interface BatchRow {
  readonly id: number;
  readonly messages: number;
  readonly first_message_id: string;
  readonly last_message_id: string;
}

/** How many batches one call examines. Most are still under way, and are skipped until the next round. */
const MAX_EXAMINED = 200;

/** How many messages one call reads: to see that a batch is over takes all of its messages, perhaps from the disk. */
const MAX_READ = 3_000;

/** Wipes the bodies of batches that have no message left to attempt. Each call goes on where the last one ended. */
function createWipe(db: Database, contents: Contents): (limit: number) => number {
  const candidates = db.prepare<BatchRow>(
    `SELECT id, messages, first_message_id, last_message_id FROM contents
     WHERE body IS NOT NULL AND messages > 1 AND is_kept = 0 AND id > ? ORDER BY id LIMIT ?`,
  );
  // Begins with the messages that are attempted last, so it hardly reads more than one of a batch under way.
  const open = db.prepare(
    `SELECT 1 FROM messages WHERE id >= ? AND id <= ? AND content = ?
       AND status IN ('scheduled', 'queued', 'sending') ORDER BY id DESC LIMIT 1`,
  );
  const isOpen = (row: BatchRow) => open.get(row.first_message_id, row.last_message_id, row.id) !== undefined;
  let last = 0;
  return (limit) => {
    const maxExamined = Math.min(limit, MAX_EXAMINED);
    const rows = candidates.all(last, maxExamined);
    last = rows.length < maxExamined ? 0 : (rows.at(-1)?.id ?? 0);
    let wiped = 0;
    let read = 0;
    for (const row of rows) {
      if (isOpen(row)) continue;
      contents.wipeBatch(row.id);
      wiped++;
      read += row.messages;
      if (read < MAX_READ) continue;
      last = row.id;
      break;
    }
    return wiped;
  };
}
