import type { SandboxQuery } from "../../core/messages/sandbox-entry.ts";
import {
  SANDBOX_COLUMNS,
  type SandboxRow,
  sandboxTests,
  toSandboxEntry,
  toSandboxRow,
} from "../sandbox-rows.ts";
import type { SandboxLedger } from "../store.ts";
import type { Session, SqlValue } from "./database/driver.ts";

/** `Store.sandbox`: what the simulator remembers. */
export function createSandboxLedger(session: Session): SandboxLedger {
  return {
    async record(entries) {
      const rows = entries.map(toSandboxRow);
      const columns = SANDBOX_COLUMNS.split(",").map((_, column) => rows.map((row) => row[column] ?? null));
      if (rows.length > 0) await session.query(INSERT, columns);
    },
    list: async (query) => (await select(session, query)).map(toSandboxEntry),
    dueReceipts: async (now, limit) =>
      (await session.query<SandboxRow>(DUE, [now, limit])).map(toSandboxEntry),
    async nextReceiptAt() {
      const [row] = await session.query<{ at: number | null }>(NEXT);
      return row?.at ?? undefined;
    },
  };
}

const INSERT = `INSERT INTO sandbox_messages (${SANDBOX_COLUMNS})
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::text[],
    $8::text[], $9::bigint[])`;

const DUE = `SELECT * FROM sandbox_messages WHERE receipt_at IS NOT NULL AND receipt_at <= $1
  ORDER BY receipt_at LIMIT $2`;

/** Not by `min`, as in `queue/stage.ts`. */
const NEXT = `SELECT receipt_at AS at FROM sandbox_messages
  WHERE receipt_at IS NOT NULL ORDER BY receipt_at LIMIT 1`;

function select(
  session: Session,
  { after, order, limit, ...filters }: SandboxQuery,
): Promise<readonly SandboxRow[]> {
  const isNewestFirst = order === "newest";
  const given: SqlValue[] = [limit];
  const asked = sandboxTests(filters).map(
    ({ test, values }) => `${test} (${values.map((value) => `$${given.push(value)}`).join(", ")})`,
  );
  if (after !== undefined) asked.push(`id ${isNewestFirst ? "<" : ">"} $${given.push(after)}`);
  const where = asked.length > 0 ? `WHERE ${asked.join(" AND ")}` : "";
  const sorted = `ORDER BY id ${isNewestFirst ? "DESC" : "ASC"}`;
  return session.query<SandboxRow>(`SELECT * FROM sandbox_messages ${where} ${sorted} LIMIT $1`, given);
}
