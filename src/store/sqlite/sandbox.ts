import type { SandboxQuery } from "../../core/messages/sandbox-entry.ts";
import {
  SANDBOX_COLUMNS,
  type SandboxRow,
  sandboxTests,
  toSandboxEntry,
  toSandboxRow,
} from "../sandbox-rows.ts";
import type { SandboxLedger } from "../store.ts";
import type { Database } from "./database/database.ts";

/** The simulator's memory. */
export function createSandboxLedger(db: Database): SandboxLedger {
  const insert = db.prepare(
    `INSERT INTO sandbox_messages (${SANDBOX_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
        for (const entry of entries) insert.run(...toSandboxRow(entry));
      }, entries.length),
    list: (query) => db.read(() => select(db, query).map(toSandboxEntry)),
    dueReceipts: (now, limit) => db.read(() => due.all(now, limit).map(toSandboxEntry)),
    nextReceiptAt: () => db.read(() => next.get()?.at ?? undefined),
  };
}

function select(db: Database, query: SandboxQuery): readonly SandboxRow[] {
  const tests = sandboxTests(query);
  const asked = tests.map(({ test, values }) => `${test} (${values.map(() => "?").join(", ")})`);
  const where = asked.length > 0 ? `WHERE ${asked.join(" AND ")}` : "";
  const sql = `SELECT * FROM sandbox_messages ${where} ORDER BY id LIMIT ?`;
  return db.prepare<SandboxRow>(sql).all(...tests.flatMap(({ values }) => values), query.limit);
}
