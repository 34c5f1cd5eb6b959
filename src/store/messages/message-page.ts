/** A page of an account's messages, as both engines walk towards it. */
import type { StoredMessage } from "../../core/messages/accept-request.ts";
import { firstUuidAt, uuidTime } from "../../core/uuid.ts";
import { writingsOf } from "../address-spellings.ts";
import type { MessagePage, MessageQuery } from "../store.ts";
import { joinContent, type MessageRow, type ProgressRow, toProgress } from "./message-rows.ts";

/** Messages one call looks at, where the index says enough of each to pass it over; and where each has to be read. */
const MAX_LOOKS_IN_INDEX = 20_000;
const MAX_LOOKS_AT_ROWS = 4_000;

/** Characters of content that one call reads: what the account gave as metadata may be long. */
export const MAX_CONTENT = 1024 * 1024;

export function looksOf({ channel, status, tag, recipient }: MessageQuery): number {
  const isInIndex = channel === "sms" && recipient !== undefined && status === undefined && tag === undefined;
  return isInIndex ? MAX_LOOKS_IN_INDEX : MAX_LOOKS_AT_ROWS;
}

export interface IdRange {
  /** Ids at or above. */
  readonly from: string;
  readonly below: string;
}

/** `highest`: above every id. */
export function rangeOf({ before, createdFrom, createdBefore }: MessageQuery, highest: string): IdRange {
  const latest = createdBefore === undefined ? highest : firstUuidAt(createdBefore);
  return { from: firstUuidAt(createdFrom), below: before !== undefined && before < latest ? before : latest };
}

/** How many rows to read. Tags are not looked into by the database. */
export function rowsOf({ tag, limit }: MessageQuery): number {
  return tag === undefined ? limit + 1 : MAX_LOOKS_AT_ROWS;
}

/** An email's recipients are in its parts, as JSON. */
export function partOf(recipient: string): string {
  return `"address":${JSON.stringify(recipient)}`;
}

/** One of these is in the parts of an email to the address, in any case of ASCII. */
export function partsOf(recipient: string): readonly string[] {
  return writingsOf(recipient).map(partOf);
}

type ListedRow = Omit<MessageRow, "content" | "account">;

export interface FoundMessages<Row extends ListedRow> {
  /** Newest first; what is below `floor`, if there is one, was not looked at. */
  readonly rows: readonly Row[];
  readonly floor: string | undefined;
  /** Asked in order of the rows. */
  readonly envelopeOf: (row: Row) => string | undefined;
  /** One call is to read no more. */
  readonly isEnough: () => boolean;
}

export function readPage<Row extends ListedRow>(
  { accountId, tag, limit }: MessageQuery,
  { rows, floor, envelopeOf, isEnough }: FoundMessages<Row>,
): MessagePage {
  const messages: StoredMessage[] = [];
  let last: string | undefined;
  for (const row of rows) {
    if (messages.length === limit || (last !== undefined && isEnough())) {
      return { messages, ...(last !== undefined && { next: last }) };
    }
    last = row.id;
    const envelope = envelopeOf(row);
    const { id } = row;
    const message = envelope === undefined ? undefined : toStoredMessage(row, { id, accountId, envelope });
    if (message && (tag === undefined || message.content.tags?.includes(tag))) messages.push(message);
  }
  return { messages, ...(floor !== undefined && { next: floor }) };
}

export function toStoredMessage(
  row: ProgressRow & Pick<MessageRow, "recipient" | "expires_at">,
  { id, accountId, envelope }: Pick<StoredMessage, "id" | "accountId"> & { readonly envelope: string },
): StoredMessage {
  return {
    id,
    accountId,
    recipient: row.recipient,
    progress: toProgress(row),
    content: joinContent(envelope, null),
    createdAt: uuidTime(id) ?? 0,
    expiresAt: row.expires_at,
  };
}
