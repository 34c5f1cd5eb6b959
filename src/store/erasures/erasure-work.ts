/** What both engines share for erasures: their rows, the walk that is next, and which texts are about the recipient. */
import type { ListOrder } from "../../core/lists/list-order.ts";
import type { WordErasure } from "../../core/messages/erased-words.ts";
import { createWordScrubber, ERASED_NUMBER, type Erasure } from "../../core/messages/erasure.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { present } from "../../core/present.ts";
import { spellingsOfNumber } from "../../core/receipts/number-spellings.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import type { Suppression } from "../../core/records/accounts.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import { uuidTime } from "../../core/uuid.ts";
import { writingsOf } from "../address-spellings.ts";
import { type TimelineRow, toTimelineEntry } from "../messages/message-rows.ts";
import { PASSED_OVER_OF } from "../meta.ts";
import type { ErasedForm } from "./erased-recipient.ts";

/** What a walk of an erasure looks for. A walk goes through one table, or a few, in stretches. */
export interface ErasureTask {
  /** E.164 number, or address with ASCII in lower case: one of `writings`. */
  readonly recipient: string;
  /** All the ways in which the recipient may be written. Each has a round of walks. */
  readonly writings: readonly string[];
  /** `undefined`: in all accounts. */
  readonly accountId: string | undefined;
  /** When it was asked for. Messages, and what belongs to them, with a later time in their ids stay. */
  readonly createdAt: number;
  /** The last job from before it: a message with a later one stays, whatever the time in its id. */
  readonly lastJob?: number;
}

/** The result of one stretch of a walk, which is one bounded transaction. */
export interface Stretch {
  /** The position to go on from; absent: the walk is over. */
  readonly next?: string;
  /** Something has to end first, such as an attempt; the stretch is to be tried again in a while. */
  readonly isBlocked?: boolean;
  /** Messages deleted, and messages to others that were redacted. */
  readonly erased?: number;
  readonly redacted?: number;
}

export interface ErasureRow {
  readonly id: string;
  readonly account_id: string | null;
  readonly recipient: string | null;
  readonly salt: string;
  readonly digest: string;
  readonly created_at: number;
  readonly completed_at: number | null;
  readonly walk: number;
  readonly position: string;
  readonly erased: number;
  readonly redacted: number;
  /** The highest id there was when the erasure was asked for. */
  readonly last_id: string | null;
  /** PostgreSQL only: the last job that had been numbered. */
  readonly last_job?: number | null;
  /** In lists: how many times something was passed over when the erasure last came to its end. */
  readonly passed_over?: string | null;
}

/**
 * Behind all ids: where the last stretch of a walk ends. A condition that holds for any id where there is no end serves no index, so that
 * every stretch would read its table to the end.
 */
export const BEHIND_ALL = "g";

/** The cursors at which the first page of a list begins. */
export const BEFORE_ALL = { oldest: "", newest: BEHIND_ALL } as const satisfies Record<ListOrder, string>;

/** SQL of `ErasureRow.passed_over`: a row of `meta`, since the record is also of programs that know of none. */
export const PASSED_OVER = `(SELECT value FROM meta WHERE name = '${PASSED_OVER_OF}' || erasures.id) AS passed_over`;

export function toErasure(row: ErasureRow): Erasure {
  const passedOver = row.completed_at === null ? Number(row.passed_over ?? 0) : 0;
  return {
    id: row.id,
    ...(row.account_id !== null && { accountId: row.account_id }),
    salt: row.salt,
    digest: row.digest,
    createdAt: row.created_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
    erased: row.erased,
    redacted: row.redacted,
    ...(passedOver > 0 && { passedOver }),
  };
}

/**
 * The walk that an erasure has reached; `undefined`: all are over. Each way in which the recipient may be written has a round of
 * all walks, and `row.walk` counts on from round to round.
 */
export function currentWalk<Walk>(
  row: ErasureRow,
  walks: readonly Walk[],
): { readonly walk: Walk; readonly task: ErasureTask } | undefined {
  const writings = row.recipient === null ? [] : writingsOf(row.recipient);
  const recipient = writings[Math.floor(row.walk / walks.length)];
  const walk = walks[row.walk % walks.length];
  if (recipient === undefined || walk === undefined) return undefined;
  const accountId = row.account_id ?? undefined;
  const bounds = { createdAt: askedAt(row), ...present({ lastJob: row.last_job ?? undefined }) };
  return { walk, task: { recipient, writings, accountId, ...bounds } };
}

/**
 * When the erasure was asked for, in the time that ids have. That may be ahead of the clock: ids of other processes have the time of
 * theirs, and the clock may have been set back.
 */
function askedAt({ id, last_id: lastId, created_at: createdAt }: ErasureRow): number {
  return Math.max(createdAt, uuidTime(id) ?? 0, uuidTime(lastId ?? "") ?? 0);
}

/** Reads `account id`, the position of a walk over messages: it goes on after that message. At the start there is no account. */
export function readPosition(position: string): { readonly account?: number; readonly id: string } {
  const [account = "", id = ""] = position.split(" ");
  return account === "" ? { id } : { account: Number(account), id };
}

/**
 * Makes a function that tells where a walk over messages goes on: after the message `last` of the account, or if it is absent in the next
 * account, if there is one.
 */
export function createBehind(
  account: number,
  next: number | undefined,
): (last: string | undefined) => string | undefined {
  return (last) => {
    if (last !== undefined) return `${account} ${last}`;
    return next === undefined ? undefined : `${next} `;
  };
}

/** How many looks erasing a message counts as: it takes some ten statements, while examining one is a step in an index. */
export const LOOKS_PER_MESSAGE = 10;

/** How many looks an account counts as: going over to it takes a few statements, however few messages it has. */
export const LOOKS_PER_ACCOUNT = 20;

/** The result of a stretch in one account. */
export interface WalkedAccount extends Pick<Stretch, "isBlocked"> {
  /** The message to go on after; absent: the account has no more messages. */
  readonly last?: string;
  /** What it cost. */
  readonly looks: number;
  readonly erased: number;
  readonly redacted: number;
}

/** Whether a stretch that has reached the end of an account may go on in the next one: in most accounts nothing is found. */
export function mayGoOn({ erased, redacted, looks }: WalkedAccount, most: number): boolean {
  return erased === 0 && redacted === 0 && looks < most;
}

export interface SuppressionRow {
  readonly id: string;
  readonly account_id: string;
  readonly reason: Suppression["reason"];
  readonly source: string | null;
  readonly expires_at: number | null;
  readonly created_at: number;
}

/** The entry that takes the place of a suppression of the recipient, and names nobody. */
export function toErasedSuppression(
  row: SuppressionRow,
  { recipient, writings }: ErasureTask,
  toErased: ErasedForm,
): Suppression {
  const scrub = createWordScrubber(recipient, ...writings);
  return {
    id: row.id,
    accountId: row.account_id,
    email: toErased(addressKey(recipient)),
    reason: row.reason,
    ...(row.source !== null && { source: scrub(row.source) }),
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    createdAt: row.created_at,
  };
}

/**
 * Makes a function that tells whether a parked receipt, as JSON, names the recipient anywhere: an address in any case, but not
 * within a longer one. Providers write numbers without the plus, or without the country, and in words also with blanks.
 */
export function createIsAbout(recipient: string): (stored: string) => boolean {
  if (!recipient.startsWith("+")) return createIsNamed(recipient);
  const spellings = spellingsOfNumber(recipient);
  return (stored) => {
    if (stored.includes(recipient.slice(1))) return true;
    const { recipient: to, error, raw = "" } = JSON.parse(stored) as Receipt;
    const words = `${error?.message ?? ""}\n${raw.replaceAll(OWN_IDS, "…")}`;
    return isSameNumber(recipient, to) === true || words.search(spellings) !== -1;
  };
}

/** The ids that an SMSC's words repeat. One that ends like the number, but is not all of it, does so by chance. */
const OWN_IDS = /(?<!\S)(?:id:|receipted_message_id=)\S+/g;

/** Makes a function that tells whether a text, or JSON, names the recipient, and not only a longer number or address. */
export function createIsNamed(recipient: string): (text: string) => boolean {
  const scrub = createWordScrubber(recipient);
  return (text) => scrub(text) !== text;
}

type TimelineTexts = Pick<TimelineRow, "recipient" | "error" | "detail">;

/** The columns of a timeline's row that may name a recipient, without them. */
export function scrubEntry(
  row: TimelineRow,
  { words, scrub }: { readonly words: WordErasure; readonly scrub: (text: string) => string },
): TimelineTexts {
  const { recipient, error, detail } = words.entry(toTimelineEntry(row));
  return {
    recipient: recipient === undefined ? null : scrub(recipient),
    error: error ? scrub(JSON.stringify(error)) : null,
    detail: detail ? scrub(JSON.stringify(detail)) : null,
  };
}

/** The recipient as texts in JSON contain it. */
export function inJson(recipient: string): string {
  return JSON.stringify(recipient).slice(1, -1);
}

/** The id of the message that a saved answer says went to the number. */
export function messageTo(text: string, recipient: string): string | undefined {
  const at = text.indexOf(`"to":"${recipient}"`);
  if (at === -1) return undefined;
  const before = text.lastIndexOf(MESSAGE_ID, at);
  if (before === -1) return undefined;
  const start = before + MESSAGE_ID.length;
  return text.slice(start, start + UUID_LENGTH);
}

const MESSAGE_ID = '"message_id":"';
const UUID_LENGTH = 36;

export function scrubAnswer(text: string, recipient: string): string {
  return text.replaceAll(`"to":"${recipient}"`, `"to":"${ERASED_NUMBER}"`);
}
