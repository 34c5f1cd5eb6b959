import { firstUuidAt } from "../../core/uuid.ts";
import type { Database } from "./database.ts";
import type { ErasureTask, Walk } from "./erasures.ts";

/** A table whose rows go where they name the recipient. */
interface Sweep {
  readonly table: string;
  readonly key: string;
  /** The key is an id that carries its time: what came after the erasure was asked for stays. */
  readonly isTimed: boolean;
  /** Of what to delete: ?1 < key <= ?2, ?3 the recipient, ?4 the account's id, or NULL for all. */
  readonly test: string;
  readonly needle?: (recipient: string) => string;
  /** Rows are large: this part of the usual looks. */
  readonly share?: number;
}

const SWEEPS: readonly Sweep[] = [
  {
    table: "sandbox_messages",
    key: "id",
    isTimed: true,
    test: "(recipient = ?3 OR instr(lower(rendered), ?3) > 0) AND (?4 IS NULL OR account_id = ?4)",
    share: 0.1,
  },
  {
    table: "inbound_messages",
    key: "id",
    isTimed: true,
    test: "sender = ?3 AND (?4 IS NULL OR account_id = ?4)",
  },
  {
    table: "events",
    key: "number",
    isTimed: false,
    test: `message_id IS NULL AND instr(lower(data), ?3) > 0
      AND (?4 IS NULL OR account = (SELECT number FROM accounts WHERE id = ?4))`,
  },
  // They have no account yet. Providers write numbers without the plus.
  {
    table: "parked_receipts",
    key: "id",
    isTimed: false,
    test: "?4 IS NULL AND instr(lower(receipt), ?3) > 0",
    needle: (recipient) => recipient.replace(/^\+/, ""),
  },
];

export function createSweeps(db: Database): readonly Walk[] {
  return [...SWEEPS.map((sweep) => createSweep(db, sweep)), createCounts(db)];
}

function createSweep(db: Database, { table, key, isTimed, test, needle, share = 1 }: Sweep): Walk {
  const ends = db.prepare<{ key: string | number }>(
    `SELECT ${key} AS key FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`,
  );
  const remove = db.prepare(`DELETE FROM ${table} WHERE ${key} > ?1 AND ${key} <= ?2 AND ${test}`);
  return ({ recipient, accountId, createdAt }, position, looks) => {
    const latest = isTimed ? firstUuidAt(createdAt + 1) : Number.MAX_SAFE_INTEGER;
    const from = isTimed ? position : Number(position);
    const end = ends.get(from, Math.ceil(looks * share))?.key ?? latest;
    const to = end < latest ? end : latest;
    remove.run(from, to, needle?.(recipient) ?? recipient, accountId ?? null);
    return to === latest ? {} : { next: String(to) };
  };
}

/** What is small, or found by the recipient. */
function createCounts(db: Database): Walk {
  const ofAccount = "(?2 IS NULL OR accounts.id = ?2)";
  const statements = [
    `DELETE FROM sms_usage WHERE recipient = ?1 AND account IN (SELECT number FROM accounts WHERE ${ofAccount})`,
    `DELETE FROM soft_bounces WHERE email = ?1 AND account_id IN (SELECT id FROM accounts WHERE ${ofAccount})`,
    "DELETE FROM inbound_parts WHERE sender = ?1 AND ?2 IS NULL",
  ].map((sql) => db.prepare(sql));
  return ({ recipient, accountId }: ErasureTask) => {
    for (const statement of statements) statement.run(recipient.toLowerCase(), accountId ?? null);
    return {};
  };
}
