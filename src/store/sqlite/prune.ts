import type { MessageStatus } from "../../core/messages/message.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { FINAL_STATUSES } from "../messages/final-statuses.ts";
import type { Retention } from "../store.ts";
import { UNFINISHED } from "../webhooks/webhook-rows.ts";
import type { Database } from "./database/database.ts";
import type { IdempotencyKeys } from "./intake/idempotency-keys.ts";
import type { Contents } from "./messages/contents.ts";
import { createMessageRemoval } from "./messages/message-removal.ts";
import type { SuppressionList } from "./suppressions/suppression-list.ts";

export interface PruneParts {
  readonly contents: Contents;
  readonly keys: IdempotencyKeys;
  readonly suppressions: SuppressionList;
}

type Pruning = Omit<Retention, "prepareDays">;

/** The methods of `Retention` that delete what is past its retention. */
export function createPrune(db: Database, { contents, keys, suppressions }: PruneParts): Pruning {
  const prune = createMessagePrune(db);
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
  const events = db.prepare(
    `DELETE FROM events WHERE number IN (
       SELECT number FROM events WHERE message_id IS NULL AND at < ? ORDER BY at LIMIT ?)`,
  );
  const sandbox = db.prepare(
    "DELETE FROM sandbox_messages WHERE id IN (SELECT id FROM sandbox_messages WHERE id < ? ORDER BY id LIMIT ?)",
  );
  const inbound = createInboundPrune(db);
  const pruneReceived = (before: number, limit: number) => {
    let rows = parked.run(before, limit) + events.run(before, limit);
    rows += usage.run(Math.floor(before / HOUR_MS), limit);
    rows += sandbox.run(firstUuidAt(before), limit);
    return rows + inbound(firstUuidAt(before), limit);
  };
  return {
    pruneMessages: prune,
    pruneIdempotencyKeys: (now, limit) => db.write(() => keys.prune(now, limit), limit),
    pruneSuppressions: (now, limit) => db.write(() => suppressions.prune(now, limit), limit),
    pruneReceived: (before, limit) => db.write(() => pruneReceived(before, limit), limit),
    wipeContents: (limit) => db.write(() => wipe(limit), limit),
  };
}

/** Deletes messages from handsets, with their webhooks. */
function createInboundPrune(db: Database): (before: string, limit: number) => number {
  const old = db.prepare<{ id: string }>("SELECT id FROM inbound_messages WHERE id < ? ORDER BY id LIMIT ?");
  const perMessage = [
    "DELETE FROM webhook_attempts WHERE webhook IN (SELECT id FROM webhooks WHERE message_id = ?)",
    "DELETE FROM webhooks WHERE message_id = ?",
    "DELETE FROM inbound_messages WHERE id = ?",
  ].map((sql) => db.prepare(sql));
  return (before, limit) => {
    const rows = old.all(before, limit);
    for (const { id } of rows) for (const statement of perMessage) statement.run(id);
    return rows.length;
  };
}

interface OldRow {
  readonly id: string;
  readonly status: MessageStatus;
  readonly content: number;
}

/** How many messages one call deletes. With everything that belongs to it, a message takes some ten statements. */
const MAX_PRUNED = 100;

/** How many messages one call examines, as a multiple of its limit: unfinished ones are skipped. */
const EXAMINED_PER_LIMIT = 4;

/**
 * How long after a walk from the oldest message the next one starts. The unfinished messages that it passes over stay
 * for days, and may be most of the old ones, such as emails that a relay has taken.
 */
const ROUND_MS = 6 * HOUR_MS;

/**
 * Walks through the old messages in order of id; each call goes on where the last one ended. Returns at least 1 until the end. Then
 * it waits there for messages that become old, until the next round.
 */
function createMessagePrune(db: Database): Pruning["pruneMessages"] {
  const old = db.prepare<OldRow>(
    "SELECT id, status, content FROM messages WHERE id > ? AND id < ? ORDER BY id LIMIT ?",
  );
  const telling = db.prepare(`SELECT 1 FROM webhooks WHERE message_id = ? AND ${UNFINISHED} LIMIT 1`);
  const isOver = ({ id, status }: OldRow) => FINAL_STATUSES.has(status) && telling.get(id) === undefined;
  const remove = createMessageRemoval(db);
  const round = createRound();

  /** Deletes messages that are so old that they go even if unfinished. They are always the oldest, so no position is kept. */
  const pruneOldest = (atLatest: number, limit: number): number => {
    const over = old.all("", firstUuidAt(atLatest), limit);
    remove(over);
    return over.length;
  };
  const pruneFrom = (last: string, before: number, limit: number): Stretch => {
    const maxExamined = limit * EXAMINED_PER_LIMIT;
    const rows = old.all(last, firstUuidAt(before), maxExamined);
    const over = rows.values().filter(isOver).take(limit).toArray();
    remove(over);
    const isAtLimit = over.length === limit;
    const isAtEnd = !isAtLimit && rows.length < maxExamined;
    const lastExamined = isAtLimit ? over.at(-1) : rows.at(-1);
    return { pruned: over.length, last: lastExamined?.id ?? last, isAtEnd };
  };
  return async ({ before, atLatest, limit }) => {
    const last = round.from(before);
    const most = Math.min(limit, MAX_PRUNED);
    const work = () => pruneOldest(atLatest, most) || pruneFrom(last, before, most);
    const done = await db.write(work, most);
    if (typeof done === "number") return done;
    // Only now, since what was rolled back has to be examined again.
    round.goOn(done);
    return done.isAtEnd ? done.pruned : Math.max(1, done.pruned);
  };
}

interface Stretch {
  readonly pruned: number;
  /** The last id that was examined. */
  readonly last: string;
  readonly isAtEnd: boolean;
}

/** The state of the walk over old messages. */
function createRound() {
  let last = "";
  let isAtEnd = true;
  /** The bound of the walk's first call. */
  let begunBefore = Number.NEGATIVE_INFINITY;
  return {
    /** The id to go on after. */
    from(before: number): string {
      if (isAtEnd && Math.abs(before - begunBefore) >= ROUND_MS) {
        last = "";
        begunBefore = before;
      }
      return last;
    },
    goOn(stretch: Stretch): void {
      ({ last, isAtEnd } = stretch);
    },
  };
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
