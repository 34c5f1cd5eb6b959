import { awaitedFrom } from "../../../core/messages/copies.ts";
import { noteOverdue } from "../../../core/receipts/overdue-receipt.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import { passOver } from "../../pass-over.ts";
import { freeOverdueRow, partOfOverdue } from "../../receipts/overdue-row.ts";
import { askedNext, toQuestion } from "../../receipts/to-question.ts";
import type { Question, QuestionRequest, ReceiptStore } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { Contents } from "../messages/contents.ts";
import type { MessageLog } from "../messages/message-log.ts";
import { createAwaitInstead } from "./await-instead.ts";

export interface OverdueParts {
  readonly messages: MessageLog;
  readonly contents: Contents;
}

type Overdue = Pick<ReceiptStore, "flagOverdue" | "takeQuestions" | "countOverdue">;

/** Parts whose receipts are overdue: found by the index of awaited receipts, and from then on kept in a table of their own. */
export function createOverdueReceipts(db: Database, parts: OverdueParts): Overdue {
  const flag = createFlag(db, parts);
  const take = createTakeQuestions(db, parts);
  const nextConnector = db.prepare<{ connector_id: string }>(
    "SELECT connector_id FROM overdue_receipts WHERE connector_id > ? ORDER BY connector_id LIMIT 1",
  );
  const count = db.prepare<{ parts: number }>(
    `SELECT count(*) AS parts FROM
       (SELECT 1 FROM overdue_receipts WHERE connector_id = ? LIMIT ${MAX_COUNTED})`,
  );
  const awaitLonger = db.prepare(
    "UPDATE provider_ids SET awaited_since = ? WHERE message_id = ? AND awaited_since <= ?",
  );
  const askLater = db.prepare("UPDATE overdue_receipts SET ask_at = ? WHERE message_id = ? AND part = ?");
  const counts = () => {
    const found: { connectorId: string; parts: number }[] = [];
    for (let row = nextConnector.get(""); row; row = nextConnector.get(row.connector_id)) {
      found.push({ connectorId: row.connector_id, parts: count.get(row.connector_id)?.parts ?? 0 });
    }
    return found;
  };
  return {
    flagOverdue: (bounds) =>
      passOver({
        limit: bounds.limit,
        now: bounds.sentBefore,
        run: (limit, taken: Taken<AwaitedRow>) => db.write(() => flag({ ...bounds, limit }, taken), limit),
        putOff: ({ message_id }, until) =>
          db.write(() => awaitLonger.run(until, message_id, bounds.sentBefore)),
      }),
    takeQuestions: (request) =>
      passOver({
        ...request,
        run: (limit, taken: Taken<OverdueRow>) => db.write(() => take({ ...request, limit }, taken), limit),
        putOff: ({ message_id, part }, until) => db.write(() => askLater.run(until, message_id, part)),
      }),
    countOverdue: () => db.read(counts),
  };
}

/** Called with the rows that a call works on. */
type Taken<Row> = (rows: readonly Row[]) => void;

interface AwaitedRow {
  readonly connector_id: string;
  readonly id_key: string;
  readonly message_id: string;
  readonly part: number;
  readonly awaited_since: number;
}

function createFlag(db: Database, { messages }: OverdueParts) {
  const awaited = db.prepare<AwaitedRow>(
    `SELECT connector_id, id_key, message_id, part, awaited_since FROM provider_ids
     WHERE awaited_since <= ? ORDER BY awaited_since LIMIT ?`,
  );
  const ofMessage = db.prepare<AwaitedRow>(
    `SELECT connector_id, id_key, message_id, part, awaited_since FROM provider_ids
     WHERE message_id = ? AND awaited_since <= ?`,
  );
  const stopWaiting = db.prepare(
    `UPDATE provider_ids SET awaited_since = NULL
     WHERE connector_id = ? AND id_key = ? AND message_id = ? AND part = ?`,
  );
  const flagged = db.prepare<{ part: number; connector_id: string }>(
    "SELECT part, connector_id FROM overdue_receipts WHERE message_id = ?",
  );
  const insert = db.prepare(
    "INSERT INTO overdue_receipts (message_id, part, connector_id, asked, ask_at) VALUES (?, ?, ?, 0, ?)",
  );
  const flagOne = (row: AwaitedRow, now: number) => {
    stopWaiting.run(row.connector_id, row.id_key, row.message_id, row.part);
    const message = messages.read(row.message_id);
    const connectorId = awaitedFrom(message?.progress.parts[row.part], row.connector_id);
    if (!message || connectorId === undefined) return;
    const rows = flagged.all(row.message_id);
    if (rows.length === 0) {
      const overdue = { at: now, connectorId, sentAt: row.awaited_since };
      messages.save(message.row, noteOverdue(message.progress, overdue));
    }
    const free = freeOverdueRow(row.part, connectorId, rows);
    if (free !== undefined) insert.run(row.message_id, free, connectorId, now);
  };
  return (
    { now, sentBefore, limit }: Parameters<ReceiptStore["flagOverdue"]>[0],
    taken: Taken<AwaitedRow>,
  ): number => {
    const rows = awaited.all(sentBefore, limit);
    taken(rows);
    // The limit may pass between parts that were taken at one moment, and leave the first of them for the next call.
    const ids = new Set(rows.map((row) => row.message_id));
    const whole = [...ids].flatMap((id) => ofMessage.all(id, sentBefore)).toSorted(bySegment);
    for (const row of whole) flagOne(row, now);
    return rows.length;
  };
}

/** By time; of segments that were taken at the same moment, the first one first. */
function bySegment(one: AwaitedRow, other: AwaitedRow): number {
  return one.awaited_since - other.awaited_since || one.part - other.part;
}

interface OverdueRow {
  readonly message_id: string;
  readonly part: number;
  readonly asked: number;
}

function createTakeQuestions(db: Database, { messages, contents }: OverdueParts) {
  const due = db.prepare<OverdueRow>(
    `SELECT message_id, part, asked FROM overdue_receipts
     WHERE connector_id = ? AND ask_at <= ? ORDER BY ask_at LIMIT ?`,
  );
  const putOff = db.prepare(
    "UPDATE overdue_receipts SET asked = asked + 1, ask_at = ? WHERE message_id = ? AND part = ?",
  );
  const awaitInstead = createAwaitInstead(db);
  const drop = db.prepare("DELETE FROM overdue_receipts WHERE message_id = ? AND part = ?");
  return (
    { connectorId, now, limit, waitsMs }: QuestionRequest,
    taken: Taken<OverdueRow>,
  ): readonly Question[] => {
    const rows = due.all(connectorId, now, limit);
    taken(rows);
    return rows.flatMap((row) => {
      const message = messages.read(row.message_id);
      const ref = { messageId: row.message_id, part: partOfOverdue(row.part), connectorId };
      const question = message && toQuestion(ref, message.progress, () => contents.find(message.row));
      const next = message && !question ? askedNext(ref, message.progress) : undefined;
      const waitMs = waitsMs[Math.min(row.asked, waitsMs.length - 1)] ?? 0;
      if (question) putOff.run(now + waitMs, row.message_id, row.part);
      else if (next !== undefined) awaitInstead(ref, { from: connectorId, to: next }, now);
      else drop.run(row.message_id, row.part);
      return question ?? [];
    });
  };
}
