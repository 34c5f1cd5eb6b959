import { awaitedFrom } from "../../../core/messages/copies.ts";
import { noteOverdue } from "../../../core/receipts/overdue-receipt.ts";
import { MAX_COUNTED } from "../../max-counted.ts";
import { joinContent, type MessageRow, toProgress } from "../../messages/message-rows.ts";
import { passOver } from "../../pass-over.ts";
import { freeOverdueRow, partOfOverdue } from "../../receipts/overdue-row.ts";
import { askedNext, toQuestion } from "../../receipts/to-question.ts";
import type { Question, QuestionRequest, ReceiptStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import { awaitInstead } from "./await-instead.ts";

type Overdue = Pick<ReceiptStore, "flagOverdue" | "takeQuestions" | "countOverdue">;

/** Parts whose receipt is overdue: found by the index of awaited receipts, and from then on kept in a table of their own. */
export function createOverdueReceipts(db: Database, changes: MessageChanges): Overdue {
  return {
    flagOverdue: (bounds) =>
      passOver({
        limit: bounds.limit,
        now: bounds.sentBefore,
        run: (limit, onTaken: Taken<AwaitedRow>) =>
          changes((session, log) => flag(session, log, { ...bounds, limit, onTaken })),
        putOff: ({ message_id }, until) => db.query(AWAIT_LONGER, [until, message_id, bounds.sentBefore]),
      }),
    takeQuestions: (request) =>
      passOver({
        ...request,
        run: (limit, taken: Taken<DueRow>) =>
          db.transaction((session) => take(session, { ...request, limit }, taken)),
        putOff: ({ message_id, part }, until) => db.query(ASK_LATER, [until, message_id, part]),
      }),
    async countOverdue() {
      const rows = await db.query<{ connector_id: string; parts: number }>(COUNTS);
      return rows.map(({ connector_id: connectorId, parts }) => ({ connectorId, parts }));
    },
  };
}

/** Called with the rows that a call works on. */
type Taken<Row> = (rows: readonly Row[]) => void;

const AWAIT_LONGER =
  "UPDATE provider_ids SET awaited_since = $1 WHERE message_id = $2 AND coalesce(awaited_since, $1) <= $3";

const ASK_LATER = "UPDATE overdue_receipts SET ask_at = $1 WHERE message_id = $2 AND part = $3";

/** Steps from connector to connector by the index. */
const COUNTS = `WITH RECURSIVE connectors AS (
    (SELECT connector_id FROM overdue_receipts ORDER BY connector_id LIMIT 1)
    UNION ALL
    SELECT (SELECT o.connector_id FROM overdue_receipts o WHERE o.connector_id > c.connector_id
      ORDER BY o.connector_id LIMIT 1) FROM connectors c WHERE c.connector_id IS NOT NULL
  )
  SELECT c.connector_id, (SELECT count(*) FROM (
    SELECT 1 FROM overdue_receipts o WHERE o.connector_id = c.connector_id LIMIT ${MAX_COUNTED}) AS counted) AS parts
  FROM connectors c WHERE c.connector_id IS NOT NULL`;

interface AwaitedRow {
  readonly connector_id: string;
  readonly message_id: string;
  readonly part: number;
  readonly awaited_since: number;
}

interface FlagParts {
  readonly onTaken: Taken<AwaitedRow>;
}

/** Locks messages before their awaited receipts, as receipts do. Of two processes that flag at once, only one flags a part. */
async function flag(
  session: Session,
  log: MessageLog,
  { now, sentBefore, limit, onTaken }: Parameters<ReceiptStore["flagOverdue"]>[0] & FlagParts,
): Promise<number> {
  const rows = await session.query<AwaitedRow>(AWAITED, [sentBefore, limit]);
  onTaken(rows);
  if (rows.length === 0) return 0;
  const ids = [...new Set(rows.map((row) => row.message_id))];
  await log.lock(ids);
  const taken = await session.query<AwaitedRow>(TAKE, [sentBefore, ids]);
  const flagged = [...(await session.query<FlaggedRow>(FLAGGED, [ids]))];
  const isFlagged = new Set(flagged.map((row) => row.message_id));
  const open = taken.flatMap((row): AwaitedRow[] => {
    const connectorId = awaitedFrom(log.find(row.message_id)?.progress.parts[row.part], row.connector_id);
    return connectorId === undefined ? [] : [{ ...row, connector_id: connectorId }];
  });
  for (const row of open) {
    const message = log.find(row.message_id);
    if (!message || isFlagged.has(message.id)) continue;
    const overdue = { at: now, connectorId: row.connector_id, sentAt: row.awaited_since };
    log.save(message, noteOverdue(message.progress, overdue));
    isFlagged.add(message.id);
  }
  await insert(session, toFreeRows(open, flagged), now);
  return rows.length;
}

type FlaggedRow = Pick<AwaitedRow, "connector_id" | "message_id" | "part">;

/** @param taken rows that the same messages have already */
function toFreeRows(open: readonly FlaggedRow[], taken: readonly FlaggedRow[]): readonly FlaggedRow[] {
  const byMessage = Map.groupBy(taken, (row) => row.message_id);
  return open.flatMap((row) => {
    const ofMessage = byMessage.get(row.message_id) ?? [];
    const part = freeOverdueRow(row.part, row.connector_id, ofMessage);
    if (part === undefined) return [];
    const free = { ...row, part };
    byMessage.set(row.message_id, [...ofMessage, free]);
    return free;
  });
}

const AWAITED = `SELECT connector_id, message_id, part, awaited_since FROM provider_ids
  WHERE awaited_since <= $1 ORDER BY awaited_since LIMIT $2`;

/**
 * Takes other parts of the same messages too, if they are as late. Returns the rows as they were before. `coalesce`, a list of messages
 * and `IS TRUE`: as in `known-ids.ts`.
 */
const TAKE = `WITH late AS (
    SELECT p.connector_id, p.id_key, p.message_id, p.part, p.awaited_since
    FROM provider_ids p WHERE p.message_id = ANY($2) AND coalesce(p.awaited_since, ${Number.MAX_SAFE_INTEGER}) <= $1 FOR UPDATE
  ), taken AS (
    UPDATE provider_ids p SET awaited_since = NULL WHERE p.message_id = ANY($2)
      AND ((p.connector_id, p.id_key, p.message_id, p.part) IN (SELECT connector_id, id_key, message_id, part FROM late)) IS TRUE
  )
  SELECT connector_id, message_id, part, awaited_since FROM late
  ORDER BY awaited_since, part, connector_id, message_id`;

const FLAGGED = "SELECT message_id, part, connector_id FROM overdue_receipts WHERE message_id = ANY($1)";

async function insert(session: Session, rows: readonly FlaggedRow[], now: number): Promise<void> {
  if (rows.length === 0) return;
  await session.query(INSERT, [
    rows.map((row) => row.message_id),
    rows.map((row) => row.part),
    rows.map((row) => row.connector_id),
    now,
  ]);
}

const INSERT = `INSERT INTO overdue_receipts (message_id, part, connector_id, asked, ask_at)
  SELECT message_id, part, connector_id, 0, $4
  FROM unnest($1::uuid[], $2::int[], $3::text[]) AS t (message_id, part, connector_id) ON CONFLICT DO NOTHING`;

interface DueRow {
  readonly message_id: string;
  readonly part: number;
  readonly asked: number;
}

/** Takes questions whose time has come. A process that calls this at the same time gets other parts. */
async function take(
  session: Session,
  { connectorId, now, limit, waitsMs }: QuestionRequest,
  taken: Taken<DueRow>,
): Promise<readonly Question[]> {
  const due = await session.query<DueRow>(DUE, [connectorId, now, limit]);
  taken(due);
  if (due.length === 0) return [];
  const ids = [...new Set(due.map((row) => row.message_id))];
  const found = new Map((await session.query<FoundRow>(FIND, [ids])).map((row) => [row.id, row]));
  const asked = due.map((row) => ({
    row,
    ...questionOf({ ...row, part: partOfOverdue(row.part), connectorId }, found.get(row.message_id)),
  }));
  const open = asked.filter(({ question }) => question);
  await session.query(PUT_OFF, [
    open.map(({ row }) => row.message_id),
    open.map(({ row }) => row.part),
    open.map(({ row }) => now + (waitsMs[Math.min(row.asked, waitsMs.length - 1)] ?? 0)),
  ]);
  const awaitedInstead = asked.flatMap(({ row, next: to }) => {
    const part = partOfOverdue(row.part);
    return to === undefined ? [] : [{ messageId: row.message_id, part, from: connectorId, to, at: now }];
  });
  await awaitInstead(session, awaitedInstead);
  const over = asked.filter(({ question, next }) => !question && next === undefined);
  await session.query(DROP, [over.map(({ row }) => row.message_id), over.map(({ row }) => row.part)]);
  return asked.flatMap(({ question }) => question ?? []);
}

const DUE = `SELECT message_id, part, asked FROM overdue_receipts
  WHERE connector_id = $1 AND ask_at <= $2 ORDER BY ask_at LIMIT $3 FOR UPDATE SKIP LOCKED`;

const PUT_OFF = `UPDATE overdue_receipts o SET asked = o.asked + 1, ask_at = t.ask_at
  FROM unnest($1::uuid[], $2::int[], $3::bigint[]) AS t (message_id, part, ask_at)
  WHERE o.message_id = ANY(ARRAY[t.message_id]) AND o.part = t.part`;

const DROP = `DELETE FROM overdue_receipts o USING unnest($1::uuid[], $2::int[]) AS t (message_id, part)
  WHERE o.message_id = ANY(ARRAY[t.message_id]) AND o.part = t.part`;

interface FoundRow extends Omit<MessageRow, "account" | "content"> {
  readonly envelope: string;
}

const FIND = `SELECT m.id, m.channel, m.recipient, m.status, m.parts, m.sequence, m.position, m.error, m.expires_at,
    m.callback_host, c.envelope
  FROM unnest($1::uuid[]) AS t (id) JOIN messages m ON m.id = t.id JOIN contents c ON c.id = m.content`;

function questionOf(
  { message_id: messageId, part, connectorId }: DueRow & { readonly connectorId: string },
  row: FoundRow | undefined,
): { readonly question?: Question | undefined; readonly next?: string | undefined } {
  if (!row) return {};
  const overdue = { messageId, part, connectorId };
  const progress = toProgress(row);
  const question = toQuestion(overdue, progress, () => joinContent(row.envelope, null));
  return question ? { question } : { next: askedNext(overdue, progress) };
}
