/** What both engines share of listing an account's messages: bounds of a page, and how it is filled. */
import type { StoredMessage } from "../../core/messages/message.ts";
import { firstUuidAt, uuidTime } from "../../core/uuid.ts";
import { writingsOf } from "../address-spellings.ts";
import type { MessagePage, MessageQuery } from "../store.ts";
import { joinContent, type MessageRow, type ProgressRow, toProgress } from "./message-rows.ts";

/** Messages that one call examines: where the index tells which to skip, and where each row has to be read. */
const MAX_EXAMINED_IN_INDEX = 20_000;
const MAX_EXAMINED_ROWS = 4_000;

/** Characters of content that one call reads: metadata that the account gave may be long. */
export const MAX_CONTENT = 1024 * 1024;

/** How many messages one call examines. */
export function maxExamined({ channel, status, tag, recipient }: MessageQuery): number {
  const isInIndex = channel === "sms" && recipient !== undefined && status === undefined && tag === undefined;
  return isInIndex ? MAX_EXAMINED_IN_INDEX : MAX_EXAMINED_ROWS;
}

export interface IdRange {
  /** Ids at or above. */
  readonly from: string;
  readonly below: string;
}

/** The ids that a query is about. `highest`: an id above all others. */
export function idRange({ before, createdFrom, createdBefore }: MessageQuery, highest: string): IdRange {
  const latest = createdBefore === undefined ? highest : firstUuidAt(createdBefore);
  return { from: firstUuidAt(createdFrom), below: before !== undefined && before < latest ? before : latest };
}

/** How many rows to read: the page and one more; all that may be examined if tags are asked for, which SQL does not test. */
export function rowLimit({ tag, limit }: MessageQuery): number {
  return tag === undefined ? limit + 1 : MAX_EXAMINED_ROWS;
}

/** How the address of a recipient stands in the JSON of an email's parts. */
export function addressJson(recipient: string): string {
  return `"address":${JSON.stringify(recipient)}`;
}

/** One of these stands in the parts of an email to the address, apart from the case of ASCII letters. */
export function addressJsonForms(recipient: string): readonly string[] {
  return writingsOf(recipient).map(addressJson);
}

export type ShownRow = ProgressRow & Pick<MessageRow, "id" | "recipient">;

export interface FoundMessages<Row extends ShownRow> {
  /** Newest first; messages below `floor`, if there is one, were not examined. */
  readonly rows: readonly Row[];
  readonly floor: string | undefined;
  /** To be called in order of the rows. */
  readonly envelopeOf: (row: Row) => string | undefined;
  /** Whether enough content has been read for one call. */
  readonly isEnough: () => boolean;
}

export function readPage<Row extends ShownRow>(
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
  row: Omit<ShownRow, "id">,
  { id, accountId, envelope }: Pick<StoredMessage, "id" | "accountId"> & { readonly envelope: string },
): StoredMessage {
  return {
    id,
    accountId,
    recipient: row.recipient,
    progress: toProgress(row),
    content: joinContent(envelope, null),
    createdAt: uuidTime(id) ?? 0,
  };
}
