import { dropShownNames } from "../../../core/email/drop-shown-names.ts";
import { createWordErasure, type WordErasure } from "../../../core/messages/erased-words.ts";
import { closeParts, createScrubber, dropName, isRecipient } from "../../../core/messages/erasure.ts";
import type { EmailContent } from "../../../core/messages/message.ts";
import { isOpen } from "../../../core/messages/part.ts";
import { isSettled } from "../../../core/messages/progress.ts";
import { present } from "../../../core/present.ts";
import {
  createBehind,
  type ErasureTask,
  LOOKS_PER_MESSAGE,
  mayGoOn,
  readPosition,
  scrubEntry,
  type WalkedAccount,
} from "../../erasures/erasure-work.ts";
import { type Ahead, channelOf, messageStretch } from "../../erasures/message-stretch.ts";
import {
  MESSAGE_COLUMNS,
  type MessageRow,
  TIMELINE_COLUMNS,
  type TimelineRow,
  toIndexes,
  toProgress,
} from "../../messages/message-rows.ts";
import type { SandboxRow } from "../../sandbox-rows.ts";
import type { Database } from "../database/database.ts";
import type { Contents } from "../messages/contents.ts";
import { createWipe } from "../messages/ending.ts";
import { createMessageRemoval } from "../messages/message-removal.ts";
import { HAS_LEASED_JOB, OF_MESSAGE } from "../queue/jobs-of-message.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { readOrPass, UUIDS } from "../unreadable-rows.ts";
import type { Walk } from "./erasures.ts";

export interface EraseMessageParts {
  readonly accounts: AccountCache;
  readonly contents: Contents;
}

/** How many messages to erase in one stretch: they lie apart, and each touches some ten pages of the file. */
const MAX_ERASED = 50;

/** Goes through the messages of one account after another, by the index that lists them. */
export function createMessageErasure(db: Database, parts: EraseMessageParts): Walk {
  const { accounts } = parts;
  const nextAccount = db.prepare<{ number: number }>(
    "SELECT number FROM accounts WHERE number > ? ORDER BY number LIMIT 1",
  );
  const walk = createAccountWalk(db, parts);
  const firstOf = ({ accountId }: ErasureTask) =>
    accountId === undefined ? nextAccount.get(-1)?.number : accounts.byId(accountId)?.number;
  const nextOf = ({ accountId }: ErasureTask, account: number) =>
    accountId === undefined ? nextAccount.get(account)?.number : undefined;

  return (task, { position, looks, goesOnAt }) => {
    let { account = firstOf(task), id } = readPosition(position);
    for (let left = looks; account !== undefined; id = "") {
      const next = nextOf(task, account);
      const behind = createBehind(account, next);
      const goesOnAfter = (last: string | undefined) => goesOnAt(behind(last));
      const { last, ...done } = walk(task, { account, after: id, looks: left, goesOnAfter });
      if (last !== undefined || !mayGoOn(done, left)) return { ...done, ...present({ next: behind(last) }) };
      account = next;
      left -= done.looks;
    }
    return {};
  };
}

interface Part {
  readonly account: number;
  readonly after: string;
  readonly looks: number;
  /** To be called with the last message of the stretch; `undefined`: the account has no more. */
  readonly goesOnAfter: (last: string | undefined) => void;
}

function createAccountWalk(
  db: Database,
  parts: EraseMessageParts,
): (task: ErasureTask, part: Part) => WalkedAccount {
  const ahead = db.prepare<Ahead>(
    `SELECT count(*) AS count, max(id) AS last FROM (
       SELECT id FROM messages WHERE account = ? AND channel = ? AND id > ? ORDER BY id LIMIT ?)`,
  );
  const select = `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE account = ?1 AND channel = ?2 AND id > ?3 AND id <= ?4`;
  const sms = db.prepare<MessageRow>(`${select} AND recipient = ?5 ORDER BY id LIMIT ?6`);
  const email = db.prepare<MessageRow>(`${select} AND instr(lower(parts), ?5) > 0 ORDER BY id LIMIT ?6`);
  const hasLeasedJob = db.prepare(HAS_LEASED_JOB);
  const hasLeasedWebhook = db.prepare(
    "SELECT 1 FROM webhooks WHERE message_id = ? AND state = 'leased' LIMIT 1",
  );
  const forget = createForget(db, parts);

  return (task, { account, after, looks, goesOnAfter }) => {
    const channel = channelOf(task);
    const lookAhead = (from: string, count: number) => ahead.get(account, channel, from, count);
    const next = (from: string) => lookAhead(from, 1)?.last ?? undefined;
    const passed = readOrPass(() => lookAhead(after, looks), { keys: UUIDS, after, next }, goesOnAfter);
    const stretch = messageStretch(task, passed, looks);
    const most = Math.min(Math.ceil(looks / LOOKS_PER_MESSAGE), MAX_ERASED);
    goesOnAfter(stretch.after([], most));
    const find = channel === "sms" ? sms : email;
    const rows = find.all(account, channel, after, stretch.upTo, stretch.needle, most);
    const counts = { erased: 0, redacted: 0, looks: stretch.looks };
    for (const row of rows) {
      // Waits for an attempt or a webhook under way, so that all its traces are there to be erased.
      const isUnderWay = hasLeasedJob.get(row.id) ?? hasLeasedWebhook.get(row.id);
      if (isUnderWay) return { ...counts, last: before(row.id), isBlocked: true };
      counts[forget(row, task)]++;
    }
    const ids = rows.map(({ id }) => id);
    return { ...counts, ...present({ last: stretch.after(ids, most) }) };
  };
}

/** Ids are lower-case hexadecimal: this is above every id below `id`. */
function before(id: string): string {
  return id.slice(0, -1);
}

type Whom = Pick<ErasureTask, "recipient" | "writings">;

/** Erases the message if the recipient is its only one. Takes the recipient out of an email to several. */
function createForget(
  db: Database,
  parts: EraseMessageParts,
): (row: MessageRow, whom: Whom) => "erased" | "redacted" {
  const remove = createMessageRemoval(db);
  const removeSandbox = db.prepare("DELETE FROM sandbox_messages WHERE message_id = ?");
  const redact = createRedaction(db, parts);
  return (row, whom) => {
    const isAlone = toProgress(row).parts.every((part) => isRecipient(part, whom.recipient));
    if (row.channel === "email" && !isAlone) {
      redact(row, whom);
      return "redacted";
    }
    removeSandbox.run(row.id);
    remove([row]);
    return "erased";
  };
}

function createRedaction(db: Database, parts: EraseMessageParts): (row: MessageRow, whom: Whom) => void {
  const find = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  const content = db.prepare("UPDATE contents SET envelope = ? WHERE id = ?");
  const message = db.prepare("UPDATE messages SET status = ?, parts = ?, error = ? WHERE id = ?");
  const heads = db.prepare(
    "UPDATE webhook_attempts SET head = NULL WHERE webhook IN (SELECT id FROM webhooks WHERE message_id = ?)",
  );
  const closeJobs = createJobClosing(db);
  const scrubTimeline = createTimelineScrubbing(db);
  const scrubSandbox = createSandboxScrubbing(db);
  const wipe = createWipe(parts);

  return (row, { recipient: address, writings }) => {
    const scrub = createScrubber(address, ...writings);
    const envelope = find.get(row.content)?.envelope;
    if (envelope !== undefined) {
      const nameless = dropName(JSON.parse(envelope) as EmailContent, address);
      content.run(scrub(JSON.stringify(nameless)), row.content);
    }
    const before = toProgress(row);
    const words = createWordErasure(before.parts, address);
    const progress = closeParts({ ...before, parts: before.parts.map(words.part) }, address);
    const error = progress.error ? scrub(JSON.stringify(words.error(progress.error))) : null;
    message.run(progress.status, scrub(JSON.stringify(progress.parts)), error, row.id);
    closeJobs(
      row.id,
      progress.parts.flatMap((part, index) => (isOpen(part) ? [index] : [])),
    );
    scrubTimeline(row.id, { scrub, words });
    scrubSandbox(row.id, { scrub, address });
    heads.run(row.id);
    // No job is left whose end would wipe it.
    if (isSettled(progress)) wipe(row, true);
  };
}

/** Deletes jobs that have no open part left. */
function createJobClosing(db: Database): (messageId: string, open: readonly number[]) => void {
  const list = db.prepare<{ id: number; parts: string | null }>(
    `SELECT id, parts FROM jobs WHERE ${OF_MESSAGE}`,
  );
  const remove = db.prepare("DELETE FROM jobs WHERE id = ?");
  return (messageId, open) => {
    for (const { id, parts } of list.all(messageId)) {
      const covered = toIndexes(parts).parts;
      if (!open.some((index) => covered?.includes(index) ?? true)) remove.run(id);
    }
  };
}

interface TimelineScrubbing {
  readonly scrub: (text: string) => string;
  readonly words: WordErasure;
}

function createTimelineScrubbing(db: Database): (messageId: string, scrubbing: TimelineScrubbing) => void {
  const rows = db.prepare<TimelineRow>(`SELECT ${TIMELINE_COLUMNS} FROM timeline WHERE message_id = ?`);
  const update = db.prepare(
    "UPDATE timeline SET recipient = ?, error = ?, detail = ? WHERE message_id = ? AND position = ?",
  );
  return (messageId, scrubbing) => {
    for (const row of rows.all(messageId)) {
      const { recipient, error, detail } = scrubEntry(row, scrubbing);
      update.run(recipient, error, detail, messageId, row.position);
    }
  };
}

interface SandboxScrubbing {
  readonly scrub: (text: string) => string;
  readonly address: string;
}

function createSandboxScrubbing(db: Database): (messageId: string, scrubbing: SandboxScrubbing) => void {
  const rows = db.prepare<Pick<SandboxRow, "id" | "recipient" | "rendered" | "receipt">>(
    "SELECT id, recipient, rendered, receipt FROM sandbox_messages WHERE message_id = ?",
  );
  const update = db.prepare(
    "UPDATE sandbox_messages SET recipient = ?, rendered = ?, receipt = ? WHERE id = ?",
  );
  return (messageId, { scrub, address }) => {
    for (const { id, recipient, rendered, receipt } of rows.all(messageId)) {
      const nameless = scrub(dropShownNames(rendered, address));
      update.run(scrub(recipient), nameless, receipt === null ? null : scrub(receipt), id);
    }
  };
}
