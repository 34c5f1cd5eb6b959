import { DAY_MS } from "../../../core/time/durations.ts";
import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { isOutOfRange } from "../database/sql-errors.ts";
import { isThere } from "../database/table-columns.ts";
import type { Database } from "../database/transactions.ts";

/** The tables that are partitioned by the day of a message's id. */
export const DAILY_TABLES = ["messages", "contents", "timeline", "events"] as const;

export type DailyTable = (typeof DAILY_TABLES)[number];

export interface Days {
  /** Makes the tables for these times (Unix milliseconds) that are missing. */
  ensure(times: Iterable<number>): Promise<void>;
  /** Forgets which tables exist: some may have been dropped. */
  forget(): void;
}

export function createDays(db: Database): Days {
  const known = new Set<number>();
  const forget = () => known.clear();
  db.onOtherServer(forget);
  return {
    async ensure(times) {
      for (const time of times) {
        const day = dayOf(time);
        if (known.has(day)) continue;
        await db.transaction((session) => makeDay(session, day));
        known.add(day);
      }
    },
    forget,
  };
}

/** Runs `work`, and once more if a day that was remembered as existing has been dropped meanwhile. */
export function onDays<Result>(days: Pick<Days, "forget">, work: () => Promise<Result>): Promise<Result> {
  return work().catch((error: unknown) => {
    if (!isOutOfRange(error)) throw error;
    days.forget();
    return work();
  });
}

/** `Retention.prepareDays`: this day and the next two. */
export function createPrepareDays(days: Days): Retention["prepareDays"] {
  return async (now) => {
    await days.ensure([now, now + DAY_MS, now + 2 * DAY_MS]);
    return 0;
  };
}

/** Days since 1970, UTC. */
export function dayOf(time: number): number {
  return Math.floor(time / DAY_MS);
}

/** Below every UUIDv7 of the day, and above every one of the day before. */
export function lowestUuid(day: number): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}

/** Days, in order, that have a table of this kind. */
export async function daysWith(session: Session, table: DailyTable): Promise<readonly number[]> {
  const rows = await session.query<{ day: string }>(DAYS, [table]);
  return rows.map(({ day }) => dayOf(Date.parse(day)));
}

const DAYS = `SELECT to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') AS day
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE i.inhparent = $1::text::regclass ORDER BY right(c.relname, 8)`;

export function tableOf(table: DailyTable, day: number): string {
  return `${table}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

async function makeDay(session: Session, day: number): Promise<void> {
  if (await isThere(session, tableOf("events", day))) return;
  await lockMaking(session);
  for (const table of DAILY_TABLES) {
    const name = tableOf(table, day);
    if (await isThere(session, name)) continue;
    await createTable(session, { table, name });
    await attach(session, table, day);
  }
}

export async function lockMaking(session: Session): Promise<void> {
  await session.query(`SELECT pg_advisory_xact_lock(${LOCKS.days})`);
}

/**
 * Makes a table that can become a day's. Its rows are updated as messages move on, which room in each page keeps cheap. It belongs to
 * whom the table of all days belongs to: another member of that role may have to drop it.
 */
export async function createTable(
  session: Session,
  { table, name }: { readonly table: DailyTable; readonly name: string },
): Promise<void> {
  await session.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (fillfactor = 85)`);
  const [owner] = await session.query<{ role: string }>(OTHER_OWNER, [table, name]);
  if (owner) await session.query(`ALTER TABLE ${name} OWNER TO ${owner.role}`);
}

/** Who owns table $1, unless it is our role, or one to which ours cannot give table $2. */
const OTHER_OWNER = `SELECT quote_ident(pg_get_userbyid(own.relowner)) AS role FROM pg_class own, pg_class made
  WHERE own.oid = $1::text::regclass AND made.oid = $2::text::regclass AND own.relowner <> made.relowner
    AND pg_has_role(own.relowner, CASE WHEN current_setting('server_version_num')::int < 160000 THEN 'USAGE' ELSE 'SET' END)
    AND has_schema_privilege(own.relowner, made.relnamespace, 'CREATE')`;

/** Attaches a table as that of its day. To create it in place would block readers and writers of other days. */
export async function attach(session: Session, table: DailyTable, day: number): Promise<void> {
  const range = `FROM ('${lowestUuid(day)}') TO ('${lowestUuid(day + 1)}')`;
  await session.query(`ALTER TABLE ${table} ATTACH PARTITION ${tableOf(table, day)} FOR VALUES ${range}`);
}
