import { setImmediate } from "node:timers/promises";
import type { ChannelName, StoredMessage } from "../../../core/messages/message.ts";
import { present } from "../../../core/present.ts";
import {
  addressJsonForms,
  type IdRange,
  idRange,
  MAX_CONTENT,
  maxExamined,
  readPage,
  rowLimit,
} from "../../messages/message-page.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import type { MessagePage, MessageQuery, MessageStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { SqlValue } from "../database/driver.ts";
import type { AccountCache } from "../records/account-cache.ts";
import { columnsOf, statusOf } from "./message-status.ts";
import { createEnvelopeOf, OWN_CONTENT } from "./own-content.ts";

/**
 * In how many pieces a call examines its messages, with other work in between: each row may have to come from the disk, and the
 * rows of an account lie far apart.
 */
const PIECES = 10;

/** `MessageStore.list`: walks down the account's index, over at most `maxExamined` messages. */
export function createMessageList(db: Database, accounts: AccountCache): MessageStore["list"] {
  const listPiece = createPieceList(db, accounts);
  const contents = createEnvelopes(db);

  return async (query) => {
    const envelopes = contents();
    const messages: StoredMessage[] = [];
    let { before } = query;
    for (let piece = 1; ; piece++) {
      const rest = { ...query, ...present({ before }), limit: query.limit - messages.length };
      const { page, floor } = await db.read(() => listPiece(rest, envelopes));
      messages.push(...page.messages);
      before = page.next;
      // If the page ends above the floor, it is full.
      const isOver = before === undefined || before !== floor || messages.length === query.limit;
      if (isOver || piece === PIECES) return { messages, ...present({ next: before }) };
      await setImmediate();
    }
  };
}

interface Piece {
  readonly page: MessagePage;
  /** Messages below it were not examined. */
  readonly floor: string | undefined;
}

function createPieceList(
  db: Database,
  accounts: AccountCache,
): (query: MessageQuery, envelopes: Envelopes) => Piece {
  const floorOf = db.prepare<{ id: string }>(
    `SELECT id FROM messages WHERE account = ? AND channel = ? AND id < ? AND id >= ? ORDER BY id DESC
     LIMIT 1 OFFSET ?`,
  );
  return (query, envelopes) => {
    const account = accounts.byId(query.accountId)?.number ?? -1;
    const range = idRange(query, HIGHEST);
    const examined = Math.ceil(maxExamined(query) / PIECES);
    const floor = floorOf.get(account, query.channel, range.below, range.from, examined - 1)?.id;
    const { sql, values } = selection(query, { account, below: range.below, from: floor ?? range.from });
    const rows = db.prepare<ListedRow>(sql).all(...values);
    return { page: readPage(query, { rows, floor, ...envelopes }), floor };
  };
}

/** Above every id. */
const HIGHEST = "g";

/** Joins the index, as if it were a table, with the rows, so that only rows are read that pass the tests on the index. */
function selection(
  query: MessageQuery,
  { account, below, from }: IdRange & { account: number },
): { sql: string; values: readonly SqlValue[] } {
  const { channel, status, recipient } = query;
  const tests: Test[] = [];
  if (recipient !== undefined) tests.push(testOf(channel, recipient));
  if (status !== undefined) tests.push({ test: `${statusOf("m")} = ?`, values: [status] });
  const where = tests.map(({ test }) => ` AND ${test}`).join("");
  return {
    sql: `SELECT ${columnsOf("m")}, m.envelope FROM messages k CROSS JOIN messages m ON m.id = k.id
     WHERE k.account = ? AND k.channel = ? AND k.id < ? AND k.id >= ?${where} ORDER BY k.id DESC LIMIT ?`,
    values: [account, channel, below, from, ...tests.flatMap(({ values }) => values), rowLimit(query)],
  };
}

interface Test {
  readonly test: string;
  readonly values: readonly SqlValue[];
}

function testOf(channel: ChannelName, recipient: string): Test {
  if (channel === "sms") return { test: "k.recipient = ?", values: [recipient] };
  const values = addressJsonForms(recipient);
  return { test: `(${values.map(() => "instr(lower(m.parts), lower(?)) > 0").join(" OR ")})`, values };
}

interface ListedRow extends MessageRow {
  readonly envelope: string | null;
}

interface Envelopes {
  readonly envelopeOf: (row: ListedRow) => string | undefined;
  readonly isEnough: () => boolean;
}

/** Contents as one call reads them; the content of a batch is read once. */
function createEnvelopes(db: Database): () => Envelopes {
  const find = createEnvelopeOf(db);
  return () => {
    let id: number | undefined;
    let envelope: string | undefined;
    let characters = 0;
    return {
      envelopeOf(row) {
        if (row.content !== id || id === OWN_CONTENT) envelope = find(row);
        id = row.content;
        characters += envelope?.length ?? 0;
        return envelope;
      },
      isEnough: () => characters >= MAX_CONTENT,
    };
  };
}
