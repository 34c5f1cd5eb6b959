/** Erasures as both engines work on them: their rows, and what is meant by "about the recipient". */
import { ERASED_NUMBER, type Erasure } from "../../core/messages/erasure.ts";
import type { Receipt } from "../../core/messages/outcome.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { writingsOf } from "../address-spellings.ts";

/** One erasure at work. */
export interface ErasureTask {
  /** E.164 number, or address with ASCII in lower case, as it is looked for now. */
  readonly recipient: string;
  /** All that is looked for. */
  readonly writings: readonly string[];
  /** `undefined`: in all. */
  readonly accountId: string | undefined;
  readonly createdAt: number;
}

/** One bounded stretch of a walk, inside a transaction. */
export interface Stretch {
  /** Where to go on; absent: the walk is over. */
  readonly next?: string;
  /** It stands before something that has to end first: to be tried again in a while. */
  readonly isBlocked?: boolean;
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
}

export function toErasure(row: ErasureRow): Erasure {
  return {
    id: row.id,
    ...(row.account_id !== null && { accountId: row.account_id }),
    salt: row.salt,
    digest: row.digest,
    createdAt: row.created_at,
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
    erased: row.erased,
    redacted: row.redacted,
  };
}

/**
 * What is to be done now; `undefined`: nothing any more. All walks are gone once for each of the ways in which the
 * recipient may be written.
 */
export function turnOf<Walk>(
  row: ErasureRow,
  walks: readonly Walk[],
): { readonly walk: Walk; readonly task: ErasureTask } | undefined {
  const writings = row.recipient === null ? [] : writingsOf(row.recipient);
  const recipient = writings[Math.floor(row.walk / walks.length)];
  const walk = walks[row.walk % walks.length];
  if (recipient === undefined || walk === undefined) return undefined;
  const accountId = row.account_id ?? undefined;
  return { walk, task: { recipient, writings, accountId, createdAt: row.created_at } };
}

/** Forgetting a message takes some ten statements, looking at one a step in the index. */
export const LOOKS_PER_MESSAGE = 10;

/** Whether a parked receipt is about the recipient, wherever it stands in the provider's words; providers write numbers without the plus, or without the country. */
export function isAbout(stored: string, recipient: string): boolean {
  if (stored.toLowerCase().includes(recipient.replace(/^\+/, ""))) return true;
  return isSameNumber(recipient, (JSON.parse(stored) as Receipt).recipient) === true;
}

/** The message that a saved answer says went to the number. */
export function messageTo(text: string, recipient: string): string | undefined {
  const at = text.indexOf(`"to":"${recipient}"`);
  if (at === -1) return undefined;
  const before = text.lastIndexOf('"message_id":"', at);
  return before === -1 ? undefined : text.slice(before + 14, before + 50);
}

export function scrubAnswer(text: string, recipient: string): string {
  return text.replaceAll(`"to":"${recipient}"`, `"to":"${ERASED_NUMBER}"`);
}
