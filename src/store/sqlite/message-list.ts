import type { StoredMessage } from "../../core/accept-request.ts";
import type { ChannelName } from "../../core/message.ts";
import { firstUuidAt } from "../../core/uuid.ts";
import { MESSAGE_COLUMNS, type MessageRow } from "../message-rows.ts";
import type { MessageDesk, MessagePage, MessageQuery } from "../store.ts";
import type { AccountBook } from "./account-book.ts";
import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";
import { toStoredMessage } from "./find-message.ts";

/** Messages one call looks at, where the index says enough of each to pass it over; and where each has to be read. */
const MAX_LOOKS_IN_INDEX = 20_000;
const MAX_LOOKS_AT_ROWS = 4_000;

/** Characters of content that one call reads: what the account gave as metadata may be long. */
const MAX_CHARACTERS = 1024 * 1024;

/** `MessageDesk.list`: steps down the account's index, never further than its looks. */
export function createMessageList(db: Database, accounts: AccountBook): MessageDesk["list"] {
  const floorOf = db.prepare<{ id: string }>(
    `SELECT id FROM messages WHERE account = ? AND channel = ? AND id < ? AND id >= ? ORDER BY id DESC
     LIMIT 1 OFFSET ?`,
  );
  const contents = createEnvelopes(db);

  const list = (query: MessageQuery): MessagePage => {
    const account = accounts.byId(query.accountId)?.number ?? -1;
    const range = rangeOf(query);
    const floor = floorOf.get(account, query.channel, range.below, range.from, looksOf(query) - 1)?.id;
    const { sql, values } = selection(query, { account, below: range.below, from: floor ?? range.from });
    return readPage(query, { rows: db.prepare<MessageRow>(sql).all(...values), floor, contents: contents() });
  };
  return (query) => db.read(() => list(query));
}

interface Range {
  /** Ids at or above. */
  readonly from: string;
  readonly below: string;
}

function rangeOf({ before, createdFrom, createdBefore }: MessageQuery): Range {
  const latest = createdBefore === undefined ? HIGHEST : firstUuidAt(createdBefore);
  return { from: firstUuidAt(createdFrom), below: before !== undefined && before < latest ? before : latest };
}

/** Above every id. */
const HIGHEST = "g";

function looksOf({ channel, status, tag, recipient }: MessageQuery): number {
  const isInIndex = channel === "sms" && recipient !== undefined && status === undefined && tag === undefined;
  return isInIndex ? MAX_LOOKS_IN_INDEX : MAX_LOOKS_AT_ROWS;
}

/** The index is walked as a table of its own, so that rows are read only of what it has not passed over. */
function selection(
  { channel, status, tag, recipient, limit }: MessageQuery,
  { account, below, from }: Range & { account: number },
): { sql: string; values: readonly SqlValue[] } {
  const tests: [string, SqlValue][] = [];
  if (recipient !== undefined) tests.push(testOf(channel, recipient));
  if (status !== undefined) tests.push(["m.status = ?", status]);
  const where = tests.map(([test]) => ` AND ${test}`).join("");
  const columns = MESSAGE_COLUMNS.replaceAll(/(\w+)/g, "m.$1");
  return {
    sql: `SELECT ${columns} FROM messages k CROSS JOIN messages m ON m.id = k.id
     WHERE k.account = ? AND k.channel = ? AND k.id < ? AND k.id >= ?${where} ORDER BY k.id DESC LIMIT ?`,
    values: [
      account,
      channel,
      below,
      from,
      ...tests.map(([, value]) => value),
      // Tags are not looked into here.
      tag === undefined ? limit + 1 : MAX_LOOKS_AT_ROWS,
    ],
  };
}

/** An email's recipients are in its parts, as JSON. */
function testOf(channel: ChannelName, recipient: string): [string, SqlValue] {
  return channel === "sms"
    ? ["k.recipient = ?", recipient]
    : ["instr(lower(m.parts), lower(?)) > 0", `"address":${JSON.stringify(recipient)}`];
}

interface Found {
  /** Newest first; what is below `floor`, if there is one, was not looked at. */
  readonly rows: readonly MessageRow[];
  readonly floor: string | undefined;
  readonly contents: Envelopes;
}

function readPage({ accountId, tag, limit }: MessageQuery, { rows, floor, contents }: Found): MessagePage {
  const messages: StoredMessage[] = [];
  let last: string | undefined;
  for (const row of rows) {
    if (messages.length === limit || (last !== undefined && contents.isEnough())) {
      return { messages, ...(last !== undefined && { next: last }) };
    }
    last = row.id;
    const envelope = contents.of(row.content);
    const message = envelope === undefined ? undefined : toStoredMessage(row, { accountId, envelope });
    if (message && (tag === undefined || message.content.tags?.includes(tag))) messages.push(message);
  }
  return { messages, ...(floor !== undefined && { next: floor }) };
}

interface Envelopes {
  of(content: number): string | undefined;
  /** One call is to read no more. */
  isEnough(): boolean;
}

/** Contents as one call reads them: those of a batch once. */
function createEnvelopes(db: Database): () => Envelopes {
  const find = db.prepare<{ envelope: string }>("SELECT envelope FROM contents WHERE id = ?");
  return () => {
    let id: number | undefined;
    let envelope: string | undefined;
    let characters = 0;
    return {
      of(content) {
        if (content !== id) envelope = find.get(content)?.envelope;
        id = content;
        characters += envelope?.length ?? 0;
        return envelope;
      },
      isEnough: () => characters >= MAX_CHARACTERS,
    };
  };
}
