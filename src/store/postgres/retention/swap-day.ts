import type { Session } from "../database/driver.ts";
import { attach, createTable, type DailyTable, lockMaking, lowestUuid, tableOf } from "./days.ts";
import { endWalk, type OldDay } from "./old-days.ts";

/** How long to wait for writers of the rows that stay; and then, while all others wait for us, for writers of any day. */
const DAY_LOCK_MS = 2_000;
const ALL_LOCK_MS = 200;

const KEYS = [
  ["messages", "id"],
  ["timeline", "message_id"],
  ["events", "subject_id"],
] as const;

/**
 * Replaces the day's tables by new ones with only the messages that stay, inside the transaction that ends a walk. Fails with
 * a lock timeout if it waits too long for locks; the same call may succeed later.
 */
export async function swapMessages(session: Session, { day, kept }: OldDay, before: number): Promise<void> {
  const tables = KEYS.map(([table, key]) => ({
    table,
    kept: kept > 0 ? { key, ids: `SELECT id FROM kept_messages WHERE day = ${day}` } : undefined,
  }));
  await replaceTables(session, day, tables);
  await endWalk(session, day, before);
}

/** Keeps only those of the day's contents that a message of the day, or of the next, refers to; see `swapMessages`. */
export async function swapContents(session: Session, day: number, isKept: boolean): Promise<void> {
  const kept = isKept ? { key: "id", ids: referredSql(day) } : undefined;
  await replaceTables(session, day, [{ table: "contents", kept }]);
}

/** Counts the contents of a day that messages refer to, up to `most`. */
export async function countReferred(session: Session, day: number, most: number): Promise<number> {
  const rows = await session.query(`${referredSql(day)} LIMIT ${most}`);
  return rows.length;
}

/** Contents that messages refer to. Searches only the first hour of the next day, since a request makes its ids together. */
const referredSql = (day: number) => `SELECT DISTINCT content AS id FROM messages
  WHERE id >= '${lowestUuid(day)}' AND id < '${lowestUuid(day + 1 + 1 / 24)}' AND content < '${lowestUuid(day + 1)}'`;

interface Replaced {
  readonly table: DailyTable;
  /** The rows that stay: those whose key is among the `id` of a query; `undefined`: none. */
  readonly kept: { readonly key: string; readonly ids: string } | undefined;
}

async function replaceTables(session: Session, day: number, tables: readonly Replaced[]): Promise<void> {
  const names = tables.map(({ table }) => tableOf(table, day));
  await lockMaking(session);
  await waitAtMost(session, DAY_LOCK_MS);
  for (const { table, kept } of tables) if (kept !== undefined) await lockKept(session, { table, day, kept });
  for (const { table, kept } of tables) if (kept !== undefined) await copyKept(session, { table, day, kept });
  await waitAtMost(session, ALL_LOCK_MS);
  await session.query(`DROP TABLE ${names.join(", ")}`);
  for (const { table, kept } of tables) {
    if (kept === undefined) continue;
    await session.query(`ALTER TABLE ${keptName(table, day)} RENAME TO ${tableOf(table, day)}`);
    await attach(session, table, day);
  }
}

async function waitAtMost(session: Session, ms: number): Promise<void> {
  await session.query("SELECT set_config('lock_timeout', $1, true)", [String(ms)]);
}

interface Kept {
  readonly table: DailyTable;
  readonly day: number;
  readonly kept: NonNullable<Replaced["kept"]>;
}

/** Tables whose rows are only added, by transactions that have locked the message. */
const ADDED_TO: ReadonlySet<DailyTable> = new Set(["timeline", "events"]);

/**
 * Keeps the rows that stay from being changed until they are copied. Rows of messages and contents are locked one by one: an update of
 * any day locks the tables of all days, so it would wait for our lock on a table, and we for its as we drop the table.
 */
async function lockKept(session: Session, { table, day, kept: { key, ids } }: Kept): Promise<void> {
  const name = tableOf(table, day);
  const rows = `SELECT count(*) FROM (SELECT id FROM (${ids}) AS stays ORDER BY id) AS k,
    LATERAL (SELECT 1 FROM ${name} AS o WHERE o.${key} = k.id OFFSET 0 FOR UPDATE) AS locked`;
  await session.query(ADDED_TO.has(table) ? `LOCK TABLE ${name} IN SHARE ROW EXCLUSIVE MODE` : rows);
}

/** Copies the rows that stay. Looks them up one by one, since the planner cannot know how few there are. */
async function copyKept(session: Session, { table, day, kept: { key, ids } }: Kept): Promise<void> {
  const name = keptName(table, day);
  await createTable(session, { table, name });
  await session.query(`INSERT INTO ${name} SELECT r.* FROM (${ids}) AS k,
    LATERAL (SELECT * FROM ${tableOf(table, day)} AS o WHERE o.${key} = k.id OFFSET 0) AS r`);
}

function keptName(table: DailyTable, day: number): string {
  return `${tableOf(table, day)}_kept`;
}
