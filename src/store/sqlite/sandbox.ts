import type { SandboxQuery } from "../../core/messages/sandbox-entry.ts";
import { present } from "../../core/present.ts";
import {
  SANDBOX_COLUMNS,
  type SandboxRow,
  sandboxTests,
  toSandboxEntry,
  toSandboxRow,
} from "../sandbox-rows.ts";
import type { SandboxLedger } from "../store.ts";
import type { Database } from "./database/database.ts";
import { selectInPieces } from "./database/select-in-pieces.ts";

/** `Store.sandbox`: what the simulator remembers. */
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
    list: async (query) => (await select(db, query)).map(toSandboxEntry),
    dueReceipts: (now, limit) => db.read(() => due.all(now, limit).map(toSandboxEntry)),
    nextReceiptAt: () => db.read(() => next.get()?.at ?? undefined),
  };
}

/** In pieces, since an index finds only the entries of a message. */
function select(
  db: Database,
  { after, order, limit, messageId, ...others }: SandboxQuery,
): Promise<readonly SandboxRow[]> {
  return selectInPieces<SandboxRow>(db, {
    table: "sandbox_messages",
    along: toTests(messageId === undefined ? {} : { messageId }),
    only: toTests(others),
    page: { ...present({ after, order }), limit },
  });
}

function toTests(asked: Parameters<typeof sandboxTests>[0]) {
  const tests = sandboxTests(asked);
  return {
    tests: tests.map(({ test, values }) => `${test} (${values.map(() => "?").join(", ")})`),
    values: tests.flatMap(({ values }) => values),
  };
}
