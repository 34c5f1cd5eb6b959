import type { Progress, TimelineEntry } from "../../../core/messages/message.ts";
import type { Step } from "../../../core/messages/step.ts";
import type { AccountMode } from "../../../core/records/accounts.ts";
import type { Lane } from "../../../core/webhooks/webhook-outbox.ts";
import { type MessageRow, toProgress } from "../../messages/message-rows.ts";
import type { Notifier } from "../../notifier.ts";
import { type ToldFailure, toldFailures } from "../../receipts/told-failure.ts";
import type { IsStored } from "../database/lost-commit.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import { dropTold } from "../receipts/drop-told.ts";
import { addWebhooks } from "../webhooks/webhook-log.ts";
import { writeMessages } from "./message-writes.ts";

/**
 * Messages that a transaction changes, with their timelines, events and webhooks. It locks all messages it will need, then
 * reads and saves them in memory, and everything is written at the end by a fixed number of statements:
 *
 *     const changes = createMessageChanges(db, notifier);
 *     const answer = await changes(async (session, log) => {
 *       await log.lock(ids);                               // one statement; skips ids that no message has
 *       const message = log.find(id);
 *       if (message) log.save(message, applyReceipt(message.progress, part, receipt));
 *       log.find(id)?.progress;                            // as it was just saved
 *       return …;
 *     });                                                  // written, committed, listeners notified
 */
export interface MessageLog {
  /** Locks in the order of ids: two transactions that each call this once cannot deadlock. Lock jobs before. */
  lock(ids: Iterable<string>): Promise<void>;
  /** As last saved. Only locked messages are found. */
  find(id: string): LockedMessage | undefined;
  /** Saves the result of a step of `core/messages/progress.ts`. */
  save(message: LockedMessage, step: Step): void;
  /** Changes the status from `from` to `to`; any other status stays. No timeline entry. */
  moveStatus(id: string, from: Progress["status"], to: Progress["status"]): void;
  /** Wipes the body, which no attempt can need any more; not that of a batch. */
  wipeSingle(message: LockedMessage): void;
  /** Keeps the body of a batch from being wiped later, since its account keeps bodies. */
  keepBatch(message: LockedMessage): void;
}

export interface LockedMessage {
  readonly id: string;
  readonly account: number;
  readonly accountId: string;
  readonly accountMode: AccountMode;
  /** The id of its content: that of the request's first message. */
  readonly content: string;
  readonly recipient: string;
  /** The host that its webhooks go to. */
  readonly callbackHost: string | null;
  readonly progress: Progress;
}

/** Runs a transaction on messages, see `Database`. `work` may run again, so it must leave no trace outside. */
export type MessageChanges = <T>(
  work: (session: Transaction, log: MessageLog) => Promise<T>,
  isStored?: IsStored<T>,
) => Promise<T>;

/** @param notifier notified after a commit of the lanes that have webhooks ready; events are announced once they are numbered */
export function createMessageChanges(db: Database, notifier: Pick<Notifier<Lane>, "notify">): MessageChanges {
  return async (work, isStored) => {
    const { value, lanes } = await db.transaction(
      async (session) => {
        const collected = collectChanges(session);
        const value = await work(session, collected.log);
        return { value, lanes: await write(session, collected.changes) };
      },
      isStored && ((session, { value }) => isStored(session, value)),
    );
    notifier.notify(lanes);
    return value;
  };
}

/** What one transaction has to write. */
export interface Changes {
  readonly messages: ReadonlyMap<string, LockedMessage>;
  /** Ids of the messages that have changed. */
  readonly moved: ReadonlySet<string>;
  readonly entries: readonly Entry[];
  /** Ids of contents. */
  readonly wiped: ReadonlySet<string>;
  readonly kept: ReadonlySet<string>;
  readonly told: readonly ToldFailure[];
}

export interface Entry {
  readonly message: LockedMessage;
  readonly entry: TimelineEntry;
}

function collectChanges(session: Transaction): { log: MessageLog; changes: Changes } {
  const messages = new Map<string, LockedMessage>();
  const moved = new Set<string>();
  const entries: Entry[] = [];
  const wiped = new Set<string>();
  const kept = new Set<string>();
  const told: ToldFailure[] = [];
  const move = (message: LockedMessage, progress: Progress) => {
    messages.set(message.id, { ...message, progress });
    moved.add(message.id);
  };
  const log: MessageLog = {
    async lock(ids) {
      const unknown = [...new Set(ids)].filter((id) => !messages.has(id));
      if (unknown.length === 0) return;
      const rows = await session.query<LockedRow>(LOCK, [unknown]);
      for (const row of rows) messages.set(row.id, toLocked(row));
    },
    find: (id) => messages.get(id),
    save(message, step) {
      if (step.alsoParkedAt) told.push(...toldFailures(message.id, step));
      if (step.progress !== message.progress || step.entries.length > 0) move(message, step.progress);
      for (const entry of step.entries) entries.push({ message, entry });
    },
    moveStatus(id, from, to) {
      const message = messages.get(id);
      if (message?.progress.status === from) move(message, { ...message.progress, status: to });
    },
    wipeSingle: ({ content }) => void wiped.add(content),
    keepBatch: ({ content }) => void kept.add(content),
  };
  return { log, changes: { messages, moved, entries, wiped, kept, told } };
}

/**
 * Looked up one by one, in the order of ids, so that for each id only the tables of its day are searched. Locked where they
 * are looked up: from a join that is locked as a whole, PostgreSQL 18 leaves out a row that it had to wait for, if the ids
 * are of several days (`two-days.test.ts`). The account is looked up last, as in claims.
 */
const LOCK = `SELECT m.*, a.id AS account_id, a.mode
  FROM (SELECT id FROM unnest($1::uuid[]) AS ids (id) ORDER BY id) AS t, LATERAL (
    SELECT id, account, content, channel, recipient, status, parts, sequence, position, error, callback_host
    FROM messages WHERE id = t.id FOR NO KEY UPDATE
  ) AS m JOIN accounts a ON a.number = ANY(ARRAY[m.account])`;

interface LockedRow extends Omit<MessageRow, "content" | "expires_at"> {
  readonly content: string;
  readonly account_id: string;
  readonly mode: AccountMode;
}

function toLocked(row: LockedRow): LockedMessage {
  return {
    id: row.id,
    account: row.account,
    accountId: row.account_id,
    accountMode: row.mode,
    content: row.content,
    recipient: row.recipient,
    callbackHost: row.callback_host,
    progress: toProgress(row),
  };
}

/** Returns the lanes to notify of after the commit. */
async function write(session: Transaction, changes: Changes): Promise<Lane[]> {
  writeMessages(session, changes);
  await dropTold(session, changes.told);
  return addWebhooks(session, changes.entries);
}
