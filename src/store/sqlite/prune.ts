import type { MessageStatus } from "../../core/messages/message.ts";
import { FINAL_STATUSES } from "../messages/final-statuses.ts";
import { createOldRowUpkeep } from "../pass-over.ts";
import type { Retention } from "../store.ts";
import { UNFINISHED } from "../webhooks/webhook-rows.ts";
import type { Database } from "./database/database.ts";
import { createInboundPrune } from "./inbound/prune-inbound.ts";
import type { IdempotencyKeys } from "./intake/idempotency-keys.ts";
import type { Contents } from "./messages/contents.ts";
import { createMessageRemoval } from "./messages/message-removal.ts";
import { createOldWalk } from "./old-walk.ts";
import { createPruneReceived } from "./prune-received.ts";
import type { SuppressionList } from "./suppressions/suppression-list.ts";
import { createUnreadableRows, NUMBERS } from "./unreadable-rows.ts";

export interface PruneParts {
  readonly contents: Contents;
  readonly keys: IdempotencyKeys;
  readonly suppressions: SuppressionList;
}

type Pruning = Omit<Retention, "prepareDays">;

/** The methods of `Retention` that delete what is past its retention. */
export function createPrune(db: Database, { contents, keys, suppressions }: PruneParts): Pruning {
  return {
    pruneMessages: createMessagePrune(db),
    pruneInbound: createInboundPrune(db),
    pruneIdempotencyKeys: keys.prune,
    pruneSuppressions: suppressions.prune,
    pruneReceived: createPruneReceived(db),
    wipeContents: createWipe(db, contents),
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
    table: "messages",
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
function createWipe(db: Database, contents: Contents): Retention["wipeContents"] {
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
  const upkeep = createOldRowUpkeep<number>((id) => `content ${id}`);
  const unreadable = createUnreadableRows<number>(db, { table: "contents", keys: NUMBERS });
  let last = 0;
  /** Returns how many were wiped, and where to go on. */
  const wipeFrom = (after: number, limit: number, { waiting, take }: WipeParts) => {
    const maxExamined = Math.min(limit, MAX_EXAMINED);
    const rows = candidates.all(after, maxExamined);
    const examined = rows.filter(({ id }) => !waiting.has(id));
    take(examined.map(({ id }) => id));
    let wiped = 0;
    let read = 0;
    for (const row of examined) {
      if (isOpen(row)) continue;
      contents.wipeBatch(row.id);
      wiped++;
      read += row.messages;
      if (read >= MAX_READ) return { wiped, next: row.id };
    }
    return { wiped, next: rows.length < maxExamined ? 0 : (rows.at(-1)?.id ?? 0) };
  };
  return async (now, limit) => {
    const from = unreadable.from(last, now);
    // From the start once the hour is over, since what was under way there may be over.
    if (from === undefined) last = 0;
    if (from === undefined) return 0;
    return upkeep({
      limit: Math.min(limit, MAX_EXAMINED),
      now,
      async run(most, waiting, take) {
        const { wiped, next: position } = await db.write(() => wipeFrom(from, most, { waiting, take }), most);
        // Only now, since what was rolled back has to be examined again.
        last = position;
        return wiped;
      },
      passUnreadable: () =>
        unreadable.pass({ after: from, steps: 1, now, next: (after) => candidates.get(after, 1)?.id }),
    });
  };
}

interface WipeParts {
  readonly waiting: ReadonlySet<number>;
  readonly take: (ids: readonly number[]) => void;
}
