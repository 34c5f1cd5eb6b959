/** What both engines share for listing an account's messages: the bounds of a page, and how it is filled. */
import type { StoredMessage } from "../../core/messages/message.ts";
import { firstUuidAt, uuidTime } from "../../core/uuid.ts";
import { writingsOf } from "../address-spellings.ts";
import type { MessagePage, MessageQuery } from "../store.ts";
import { joinContent, type MessageRow, type ProgressRow, toProgress } from "./message-rows.ts";

/** The most messages that one call examines: if the index tells which to skip, and if each row has to be read. */
const MAX_EXAMINED_IN_INDEX = 20_000;
const MAX_EXAMINED_ROWS = 4_000;

/** The most characters of content that one call reads: the metadata of a message may be long. */
export const MAX_CONTENT = 1024 * 1024;

/** How many messages one call examines. */
export function maxExamined({ channel, status, tag, recipient }: MessageQuery): number {
  const isInIndex = channel === "sms" && recipient !== undefined && status === undefined && tag === undefined;
  return isInIndex ? MAX_EXAMINED_IN_INDEX : MAX_EXAMINED_ROWS;
}

export interface IdRange {
  /** The lowest id of the range. */
  readonly from: string;
  readonly below: string;
}

/** The range of ids that a query covers. `highest`: an id above all others. */
export function idRange({ before, createdFrom, createdBefore }: MessageQuery, highest: string): IdRange {
  const latest = createdBefore === undefined ? highest : firstUuidAt(createdBefore);
  return { from: firstUuidAt(createdFrom), below: before !== undefined && before < latest ? before : latest };
}

/** How many rows to read: one more than the page has. With a tag, all that may be examined, since SQL does not test tags. */
export function rowLimit({ tag, limit }: MessageQuery): number {
  return tag === undefined ? limit + 1 : MAX_EXAMINED_ROWS;
}

/** The address of a recipient as it is written in the JSON of an email's parts. */
export function addressJson(recipient: string): string {
  return `"address":${JSON.stringify(recipient)}`;
}

/** The forms of `addressJson`, one of which the parts of an email to the address contain, apart from the case of ASCII letters. */
export function addressJsonForms(recipient: string): readonly string[] {
  return writingsOf(recipient).map(addressJson);
}

export type ShownRow = ProgressRow & Pick<MessageRow, "id" | "recipient">;

export interface FoundMessages<Row extends ShownRow> {
  /** Newest first. Messages with ids below `floor` were not examined; `undefined`: all were. */
  readonly rows: readonly Row[];
  readonly floor: string | undefined;
  /** Reads a row's envelope; to be called in the order of the rows. */
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
