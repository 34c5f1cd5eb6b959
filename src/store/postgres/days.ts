import type { Session } from "./driver.ts";
import type { Database } from "./transactions.ts";

/** The tables that are partitioned by the day of a message's id. */
const DAILY_TABLES = ["messages", "contents", "timeline", "events"] as const;

export interface Days {
  /** Resolves when the tables of these times (Unix milliseconds) are there. */
  ensure(times: Iterable<number>): Promise<void>;
  /** What is remembered of tables may have been dropped. */
  forget(): void;
}

const DAY_MS = 86_400_000;

/** Names the lock under which partitions are made. */
const MAKING = 7_031_002;

export function createDays(db: Database): Days {
  const known = new Set<number>();
  return {
    async ensure(times) {
      for (const time of times) {
        const day = Math.floor(time / DAY_MS);
        if (known.has(day)) continue;
        await db.transaction((session) => makeDay(session, day));
        known.add(day);
      }
    },
    forget: () => known.clear(),
  };
}

/** Attached rather than created in place: then readers and writers of other days go on meanwhile. */
async function makeDay(session: Session, day: number): Promise<void> {
  const suffix = new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll("-", "");
  const isThere = async (table: string) => {
    const [row] = await session.query<{ name: string | null }>("SELECT to_regclass($1)::text AS name", [
      table,
    ]);
    return row?.name != null;
  };
  if (await isThere(`${DAILY_TABLES.at(-1)}_${suffix}`)) return;
  await session.query(`SELECT pg_advisory_xact_lock(${MAKING})`);
  for (const table of DAILY_TABLES) {
    const name = `${table}_${suffix}`;
    if (await isThere(name)) continue;
    // Messages and contents are written again as they move on: room in the page keeps that cheap.
    await session.query(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL) WITH (fillfactor = 85)`);
    const range = `FROM ('${lowestUuid(day)}') TO ('${lowestUuid(day + 1)}')`;
    await session.query(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES ${range}`);
  }
}

/** Below every UUIDv7 of the day, and above every one of the day before. */
function lowestUuid(day: number): string {
  const hex = (day * DAY_MS).toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`;
}
