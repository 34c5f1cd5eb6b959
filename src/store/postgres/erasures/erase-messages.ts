import { createWordErasure, type WordErasure } from "../../../core/messages/erased-words.ts";
import { closeParts, createScrubber, isRecipient } from "../../../core/messages/erasure.ts";
import type { Progress } from "../../../core/messages/message.ts";
import { isSettled } from "../../../core/messages/progress.ts";
import { present } from "../../../core/present.ts";
import {
  createBehind,
  type ErasureTask,
  LOOKS_PER_MESSAGE,
  mayGoOn,
  readPosition,
  type WalkedAccount,
} from "../../erasures/erasure-work.ts";
import { type Ahead, channelOf, messageStretch } from "../../erasures/message-stretch.ts";
import type { Session } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";
import { wipe } from "../messages/ending.ts";
import type { LockedMessage, MessageLog } from "../messages/message-log.ts";
import { removeMessages } from "../messages/message-removal.ts";
import { isTo } from "../messages/recipient-test.ts";
import { type LockedJob, redactRows } from "../messages/redact-messages.ts";
import { readSettings } from "../records/account-settings.ts";
import type { Walk } from "./erasures.ts";

/** Goes through the messages of one account after another, by the index that lists them. */
export const eraseMessages: Walk = async (session, task, { position, looks, log, goesOnAt }) => {
  let { account = await nextAccount(session, task, undefined), id } = readPosition(position);
  for (let left = looks; account !== undefined; id = "") {
    const next = await nextAccount(session, task, account);
    const behind = createBehind(account, next);
    const goesOnAfter = (last: string | undefined) => goesOnAt(behind(last));
    const part = { account, after: id, looks: left, log, goesOnAfter };
    const { last, ...done } = await walkAccount(session, task, part);
    // Messages of two accounts would not be locked in order.
    if (last !== undefined || !mayGoOn(done, left)) return { ...done, ...present({ next: behind(last) }) };
    account = next;
    left -= done.looks;
  }
  return {};
};

async function nextAccount(
  session: Session,
  { accountId }: ErasureTask,
  after: number | undefined,
): Promise<number | undefined> {
  const rows = await session.query<{ number: number }>(
    "SELECT number FROM accounts WHERE number > $1 AND ($2::text IS NULL OR id = $2) ORDER BY number LIMIT 1",
    [after ?? -1, accountId ?? null],
  );
  return rows[0]?.number;
}

interface Part {
  readonly account: number;
  readonly after: string;
  readonly looks: number;
  readonly log: MessageLog;
  /** To be called with the last message of the stretch; `undefined`: the account has no more. */
  readonly goesOnAfter: (last: string | undefined) => void;
}

async function walkAccount(
  session: Session,
  task: ErasureTask,
  { account, after, looks, log, goesOnAfter }: Part,
): Promise<WalkedAccount> {
  const channel = channelOf(task);
  const from = after === "" ? NIL_UUID : after;
  const [ahead] = await session.query<Ahead>(AHEAD, [account, channel, from, looks]);
  const stretch = messageStretch(task, ahead, looks);
  const most = Math.ceil(looks / LOOKS_PER_MESSAGE);
  goesOnAfter(stretch.after([], most));
  const sql = channel === "sms" ? FIND_SMS : FIND_EMAIL;
  const values = [account, channel, from, stretch.upTo, stretch.needle, most, task.lastJob ?? null];
  const found = (await session.query<{ id: string }>(sql, values)).map(({ id }) => id);
  const { forgotten, ...counts } = await forgetAll(session, log, { ids: found, task });
  const done = { ...counts, looks: stretch.looks };
  // Waits for an attempt or a webhook under way, so that all its traces are there to be erased.
  if (forgotten < found.length) return { ...done, last: found[forgotten - 1] ?? after, isBlocked: true };
  return { ...done, ...present({ last: stretch.after(found, most) }) };
}

/** Conditions and an order that only the account's index serves, as in lists. */
const AFTER = "account = ANY(ARRAY[$1::int]) AND channel = $2 AND id > $3";
const IN_ORDER = "ORDER BY account, channel, id";

const AHEAD = `SELECT count(*) AS count, max(id::text) AS last FROM (
  SELECT id FROM messages WHERE ${AFTER} ${IN_ORDER} LIMIT $4) AS passed`;

/** Not of a message that was accepted later, by a process whose clock is behind. One without a job is over. */
const OF_THEN =
  "coalesce((SELECT j.id FROM jobs j WHERE j.message_id = messages.id LIMIT 1) <= $7::bigint, true)";

const findSql = (test: string) => `SELECT id FROM messages
  WHERE ${AFTER} AND id <= $4 AND ${test} AND ${OF_THEN} ${IN_ORDER} LIMIT $6`;

const FIND_SMS = findSql(isTo("$5"));

/** `COLLATE "C"` lowers letters of ASCII only, as the recipient was lowered. */
const FIND_EMAIL = findSql(`strpos(lower(parts COLLATE "C"), $5) > 0`);

interface Forgotten {
  /** How many messages, from the first on: up to one that has an attempt or a webhook under way. */
  readonly forgotten: number;
  readonly erased: number;
  readonly redacted: number;
}

async function forgetAll(
  session: Session,
  log: MessageLog,
  { ids, task }: { readonly ids: readonly string[]; readonly task: ErasureTask },
): Promise<Forgotten> {
  if (ids.length === 0) return { forgotten: 0, erased: 0, redacted: 0 };
  const jobs = await session.query<LockedJob>(LOCK_JOBS, [ids]);
  const unclaimed = beforeLeased(ids, jobs);
  await log.lock(unclaimed);
  const free = beforeLeased(unclaimed, await session.query<LeasedOrNot>(LOCK_WEBHOOKS, [unclaimed]));
  const messages = free.flatMap((id) => log.find(id) ?? []);
  const [alone, shared] = partition(messages, (message) => isTheirsAlone(message, task.recipient));
  await redact(session, log, { messages: shared, jobs, task });
  await session.query(
    "DELETE FROM sandbox_messages WHERE message_id = ANY(ARRAY(SELECT unnest($1::text[])))",
    [alone.map(({ id }) => id)],
  );
  await removeMessages(session, alone);
  return { forgotten: free.length, erased: alone.length, redacted: shared.length };
}

/** `+ 0`: see `cancel.ts`. */
const LOCK_JOBS = `SELECT id, message_id, parts, is_leased FROM jobs WHERE message_id = ANY($1)
  ORDER BY id + 0 FOR UPDATE`;

/** Locked after the messages, as by transactions that add webhooks. None is claimed with the old body before this one ends. */
const LOCK_WEBHOOKS = `SELECT message_id, state = 'leased' AS is_leased FROM webhooks WHERE message_id = ANY($1)
  ORDER BY message_id, sequence FOR NO KEY UPDATE`;

type LeasedOrNot = Pick<LockedJob, "message_id" | "is_leased">;

/** The messages before the first one that has a leased job or webhook. */
function beforeLeased(ids: readonly string[], rows: readonly LeasedOrNot[]): readonly string[] {
  const leased = new Set(rows.flatMap((row) => (row.is_leased ? [row.message_id] : [])));
  const first = ids.findIndex((id) => leased.has(id));
  return first === -1 ? ids : ids.slice(0, first);
}

function isTheirsAlone({ progress }: LockedMessage, recipient: string): boolean {
  return progress.channel === "sms" || progress.parts.every((part) => isRecipient(part, recipient));
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

/** Takes the recipient out of emails to several. */
async function redact(
  session: Session,
  log: MessageLog,
  given: { messages: readonly LockedMessage[]; jobs: readonly LockedJob[]; task: ErasureTask },
): Promise<void> {
  const { messages, jobs, task } = given;
  const { recipient, writings } = task;
  if (messages.length === 0) return;
  const scrub = createScrubber(recipient, ...writings);
  const wordErasures = new Map<string, WordErasure>();
  for (const message of messages) {
    const words = createWordErasure(message.progress.parts, recipient);
    wordErasures.set(message.id, words);
    const closed = closeParts(withoutWords(message.progress, words), recipient);
    // Scrubbed as JSON, the form in which it is stored.
    log.save(message, { progress: JSON.parse(scrub(JSON.stringify(closed))), entries: [] });
  }
  const after = messages.flatMap(({ id }) => log.find(id) ?? []);
  const settingsOf = await readSettings(
    session,
    after.map(({ accountId }) => accountId),
  );
  // A message that is over has no job left whose end would wipe it.
  for (const message of after)
    wipe(log, message, { isOver: isSettled(message.progress), settings: settingsOf(message.accountId) });
  await redactRows(session, { messages: after, jobs, recipient, scrub, wordErasures });
}

function withoutWords({ error, ...progress }: Progress, words: WordErasure): Progress {
  return { ...progress, parts: progress.parts.map(words.part), ...(error && { error: words.error(error) }) };
}
