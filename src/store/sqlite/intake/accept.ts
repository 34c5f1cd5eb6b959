import type { AcceptResult } from "../../../core/messages/accept-request.ts";
import type { ChannelName, MessageStatus } from "../../../core/messages/message.ts";
import type { LimitedRequest } from "../../../core/messages/sending-limits.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { flowNumber } from "../../queue/flow-number.ts";
import type { Database } from "../database/database.ts";
import { createLateRows } from "../database/row-insert.ts";
import type { RowNumbers } from "../database/row-numbers.ts";
import type { BodyTexts, ContentPieces } from "../messages/content-pieces.ts";
import { fitsInMessageRow, OWN_CONTENT } from "../messages/own-content.ts";
import type { Queues } from "../queue/queues.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { IdempotencyKeys } from "./idempotency-keys.ts";
import {
  idOf,
  messagesOf,
  type PackedAccept,
  type PackedKey,
  type PackedMessage,
  recipientOf,
  textsOf,
} from "./packed-accept.ts";
import type { SmsUsage } from "./sms-usage.ts";

export interface AcceptParts {
  readonly accounts: AccountCache;
  readonly queues: Queues;
  readonly keys: IdempotencyKeys;
  readonly usage: SmsUsage;
  readonly numbers: RowNumbers;
  readonly pieces: ContentPieces;
  /** The time of day. */
  readonly now: () => number;
}

/** `Intake.accept`: content, messages, jobs, key and answer, all or nothing. */
export function createAccept(
  db: Database,
  { accounts, queues, keys, usage, numbers, pieces, now }: AcceptParts,
): (request: PackedAccept) => Promise<AcceptResult> {
  const nextContent = numbers("contents");
  const insertContent = createContentInsert(db);
  const insertMessage = createMessageInsert(db, { queues, numbers });
  const refuseLimited = createLimitedRefusal(keys, usage);

  const isTooLate = createLateness(keys, now);
  const replayOf = (key: PackedKey): AcceptResult | undefined => {
    const answer = keys.take(key, key.answer);
    return answer && { kind: "replay", answer };
  };

  const acceptNow = (request: PackedAccept, written?: WrittenPieces): AcceptResult => {
    const [accountId, flow, channel, envelope, body, key, messages, limited, callbackHost] = request;
    const entry = accounts.byId(accountId);
    if (!entry) return NO_ACCOUNT;
    const account = entry.number;
    // Before the key is taken: a refused request stores nothing.
    if (isTooLate(key)) return TOO_LATE;
    const refused = limited ? refuseLimited(account, { key, messages, limited }) : undefined;
    if (refused) return refused;
    if (!accounts.markUsed(entry)) return NO_ACCOUNT;
    const replay = key ? replayOf(key) : undefined;
    if (replay) return replay;
    if (limited) usage.count(account, messages.map(recipientOf), limited);
    const isOwn = messages.length === 1 && fitsInMessageRow(channel, envelope, body);
    const content = isOwn ? OWN_CONTENT : (written?.content ?? nextContent());
    if (!isOwn) insertContent(content, [envelope, body, written?.count ?? 0], messages);
    const ownEnvelope = isOwn ? envelope : null;
    const ownBody = isOwn ? body : null;
    const number = flowNumber(account, flow);
    const frame = { account, content, channel, callbackHost, ownEnvelope, ownBody, flow: number };
    for (const message of messages) insertMessage(message, frame);
    return ACCEPTED;
  };

  const accept = (request: PackedAccept, written?: WrittenPieces) =>
    db.writeForClient(() => acceptNow(request, written), messagesOf(request).length, "late");

  const acceptInPieces = (request: PackedAccept, texts: BodyTexts) =>
    withPieces(pieces, { content: nextContent(), texts }, (written) => accept(request, written));

  return (request) => {
    const texts = textsOf(request);
    return texts ? acceptInPieces(request, texts) : accept(request);
  };
}

/**
 * Whether a repeat of the request may have been refused, which found its key free: large texts are written before the key is taken,
 * and another thread may have had its turn.
 */
function createLateness(keys: IdempotencyKeys, now: () => number): (key: PackedKey | null) => boolean {
  return (key) => key?.acceptBefore !== undefined && key.acceptBefore <= now() && !keys.find(key);
}

/** The pieces in which the texts of a content were written. */
interface WrittenPieces {
  /** The content's number. */
  readonly content: number;
  readonly count: number;
}

/** Writes the pieces before the content, so that a content is always complete. Drops them if the request is not accepted. */
async function withPieces(
  pieces: ContentPieces,
  { content, texts }: { readonly content: number; readonly texts: BodyTexts },
  accept: (written: WrittenPieces) => Promise<AcceptResult>,
): Promise<AcceptResult> {
  let result: AcceptResult | undefined;
  try {
    const count = await pieces.write(content, texts);
    result = await accept({ content, count });
    return result;
  } finally {
    // Pieces that cannot be dropped now are dropped at the next start.
    if (result?.kind !== "accepted") await pieces.drop(content).catch(() => {});
  }
}

interface LimitedAccept {
  readonly key: PackedKey | null;
  readonly messages: readonly PackedMessage[];
  readonly limited: LimitedRequest;
}

/** Answers a request of an account with limits if it repeats an earlier one, or would exceed a limit. */
function createLimitedRefusal(keys: IdempotencyKeys, usage: SmsUsage) {
  return (account: number, { key, messages, limited }: LimitedAccept): AcceptResult | undefined => {
    const answer = key ? keys.find(key) : undefined;
    if (answer) return { kind: "replay", answer };
    const refusal = usage.exceeded(account, messages.map(recipientOf), limited);
    return refusal && { kind: "over_limit", refusal };
  };
}

const ACCEPTED: AcceptResult = { kind: "accepted" };
const NO_ACCOUNT: AcceptResult = { kind: "no_account" };
const TOO_LATE: AcceptResult = { kind: "too_late" };

interface MessageFrame {
  readonly account: number;
  readonly content: number;
  readonly channel: ChannelName;
  readonly callbackHost: string | null;
  /** The content, if it goes into the row of its message. */
  readonly ownEnvelope: string | null;
  readonly ownBody: string | null;
  readonly flow: number;
}

/** Collects rows, to write them at the end of the transaction together with those of other requests. */
function createMessageInsert(
  db: Database,
  { queues, numbers }: Pick<AcceptParts, "queues" | "numbers">,
): (message: PackedMessage, frame: MessageFrame) => void {
  const messageRows = createLateRows(db, { into: "messages", columns: MESSAGE_COLUMNS });
  const jobRows = createLateRows(db, { into: "jobs", columns: JOB_COLUMNS });
  const noteDeferral = createDeferralNote(db);
  const nextJob = numbers("jobs");
  return ([id, recipient, status, parts, expiresAt, dueAt, deferral, jobs], frame) => {
    const { account, content, channel, callbackHost, ownEnvelope, ownBody, flow } = frame;
    let first: number | null = null;
    let last: number | null = null;
    for (let at = 0; at < jobs.length; at += 2) {
      const queue = jobs[at] ?? "";
      const covered = jobs[at + 1] ?? null;
      last = nextJob();
      first ??= last;
      jobRows.push(last, queues.numberFor(queue), flow, id, covered, expiresAt, dueAt, 0, 0, 0, 0);
      if (dueAt === null) queues.notify(queue);
    }
    const position = deferral === null ? 0 : 1;
    messageRows.push(id, account, content, channel, recipient, status, parts, 0, position);
    messageRows.push(expiresAt, first, last, callbackHost, ownEnvelope, ownBody);
    if (deferral !== null) noteDeferral(id, status, deferral);
  };
}

const MESSAGE_COLUMNS =
  "id, account, content, channel, recipient, status, parts, sequence, position, expires_at, first_job, last_job, callback_host, envelope, body";

const JOB_COLUMNS =
  "id, queue, flow, message_id, parts, deadline, due_at, is_leased, was_interrupted, claim, attempt";

function createDeferralNote(db: Database): (id: string, status: MessageStatus, detail: string) => void {
  const note = db.prepare(
    "INSERT INTO timeline (message_id, position, at, kind, status, detail) VALUES (?, 1, ?, 'status', ?, ?)",
  );
  return (id, status, detail) => void note.run(id, uuidTime(id) ?? 0, status, detail);
}

type ContentInsert = (
  id: number,
  kept: readonly [envelope: string, body: string | null, pieces: number],
  messages: readonly PackedMessage[],
) => void;

function createContentInsert(db: Database): ContentInsert {
  const insert = db.prepare(
    "INSERT INTO contents (id, envelope, body, pieces, messages, first_message_id, last_message_id) VALUES (?, ?, ?, ?, ?, ?, ?)",
  );
  return (id, [envelope, body, pieces], messages) => {
    const first = messages[0];
    const last = messages.at(-1);
    if (!first || !last) throw new Error("a request has at least one message");
    insert.run(id, envelope, body, pieces, messages.length, idOf(first), idOf(last));
  };
}
