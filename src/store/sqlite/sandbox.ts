import type { ChannelName } from "../../core/message.ts";
import type { SandboxEntry, SandboxQuery } from "../../core/sandbox-entry.ts";
import type { SandboxLedger } from "../store.ts";
import type { Database } from "./database.ts";
import type { SqlValue } from "./driver.ts";

/** The simulator's memory. */
export function createSandboxLedger(db: Database): SandboxLedger {
  const insert = db.prepare(
    `INSERT INTO sandbox_messages
       (id, account_id, message_id, channel, recipient, received_at, rendered, receipt, receipt_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const due = db.prepare<SandboxRow>(
    "SELECT * FROM sandbox_messages WHERE receipt_at IS NOT NULL AND receipt_at <= ? ORDER BY receipt_at LIMIT ?",
  );
  const next = db.prepare<{ at: number | null }>(
    "SELECT min(receipt_at) AS at FROM sandbox_messages WHERE receipt_at IS NOT NULL",
  );
  return {
    record: (entries) =>
      db.write(() => {
        for (const entry of entries) insert.run(...toRow(entry));
      }, entries.length),
    list: (query) => db.read(() => select(db, query).map(toEntry)),
    dueReceipts: (now, limit) => db.read(() => due.all(now, limit).map(toEntry)),
    nextReceiptAt: () => db.read(() => next.get()?.at ?? undefined),
  };
}

interface SandboxRow {
  readonly id: string;
  readonly account_id: string;
  readonly message_id: string;
  readonly channel: ChannelName;
  readonly recipient: string;
  readonly received_at: number;
  readonly rendered: string;
  readonly receipt: string | null;
}

const FILTERS = [
  ["accountId", "account_id = ?"],
  ["messageId", "message_id = ?"],
  ["channel", "channel = ?"],
  ["to", "recipient = ?"],
  ["after", "id > ?"],
] as const satisfies readonly (readonly [keyof SandboxQuery, string])[];

function select(db: Database, query: SandboxQuery): readonly SandboxRow[] {
  const given = FILTERS.flatMap(([field, test]) => {
    const value = query[field];
    return value === undefined ? [] : [{ test, value }];
  });
  const where = given.length > 0 ? `WHERE ${given.map(({ test }) => test).join(" AND ")}` : "";
  const sql = `SELECT * FROM sandbox_messages ${where} ORDER BY id LIMIT ?`;
  return db.prepare<SandboxRow>(sql).all(...given.map(({ value }) => value), query.limit);
}

function toRow(entry: SandboxEntry): SqlValue[] {
  return [
    entry.id,
    entry.accountId,
    entry.messageId,
    entry.channel,
    entry.to,
    entry.receivedAt,
    JSON.stringify(entry.rendered),
    entry.receipt ? JSON.stringify(entry.receipt) : null,
    entry.receipt?.at ?? null,
  ];
}

function toEntry(row: SandboxRow): SandboxEntry {
  return {
    id: row.id,
    accountId: row.account_id,
    messageId: row.message_id,
    channel: row.channel,
    to: row.recipient,
    receivedAt: row.received_at,
    rendered: JSON.parse(row.rendered) as SandboxEntry["rendered"],
    ...(row.receipt !== null && { receipt: JSON.parse(row.receipt) as NonNullable<SandboxEntry["receipt"]> }),
  };
}
