import type { Clock } from "../../core/clock.ts";
import { type MetaName, MOVING, OPENINGS } from "../meta.ts";
import { LONG_STATEMENT_MS, openDriver as openTarget, type Session } from "../postgres/database/driver.ts";
import { fillAlone } from "../postgres/database/fill-alone.ts";
import { checkMasterKey, filledFrom, isServed, readMeta, writeMeta } from "../postgres/database/meta.ts";
import { setCounters } from "../postgres/database/table-columns.ts";
import { type Database, openClosable } from "../postgres/database/transactions.ts";
import { migrate } from "../postgres/migrate.ts";
import { createDays } from "../postgres/retention/days.ts";
import { openDriver as openSource, type Driver as Source } from "../sqlite/database/driver.ts";
import { readMeta as readSourceMeta } from "../sqlite/database/meta.ts";
import { refuseOtherVersion } from "../sqlite/migrate.ts";
import { type MigrationOptions, migrateOlder } from "../sqlite/migrate-older.ts";
import { configure } from "../sqlite/open-sqlite.ts";
import type { Vault } from "../vault.ts";
import { copyTable, type Moving, type Place } from "./copy-table.ts";
import { type Counted, countBoth } from "./count-both.ts";
import { comeBack, leaveBehind, refuseWhatMoved } from "./move-marks.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";

/** The options are those of the SQLite database. */
export interface MoveUp extends MigrationOptions {
  /** The SQLite database, which nobody else may have open. It is migrated to this version's schema once the other is taken. */
  readonly path: string;
  /** The PostgreSQL database: empty, or with an interrupted move of this database. */
  readonly url: string;
  /** Opens the secrets of both databases. */
  readonly vault: Vault;
  /** Called with the number of rows copied, and the number of all rows of the walk. */
  readonly onProgress: (progress: { table: string; rows: number; of: number }) => void;
  readonly clock: Clock;
  /** Hears when something of the copy is in the PostgreSQL database, and when it is complete. */
  readonly onStage?: (stage: "begun" | "complete") => void;
}

/**
 * Copies an SQLite database into PostgreSQL, going on where an earlier move was interrupted, and compares the counts.
 * Until it is over no service starts on the copy, and afterwards none on the original: nothing is sent from both.
 */
export async function moveUp(order: MoveUp): Promise<readonly Counted[]> {
  const source = openSource(order.path);
  const driver = openTarget({ url: order.url, connections: 3, statementMs: LONG_STATEMENT_MS });
  const closable = openClosable(driver, order.clock);
  try {
    configure(source);
    refuseOtherVersion(source);
    return await fillAlone(driver, async (checkAlone) => {
      const name = sourceName(source);
      // If only the last step was missing, the source is marked already, but no service has run on either since.
      if ((await filledFrom(closable.database)) !== name) refuseWhatMoved(source);
      // First, so that a database that is refused keeps its schema.
      await isCopyOf(closable.database, name);
      await migrate(driver);
      await takeTarget(closable.database, name);
      order.onStage?.("begun");
      // Only now, so that an older program can still start on the source if the move is refused.
      await migrateOlder(source, order);
      const counted = await copyAll(source, closable.database, { ...order, checkAlone });
      order.onStage?.("complete");
      return counted;
    });
  } finally {
    await closable.close();
    source.close();
  }
}

async function copyAll(
  source: Source,
  target: Database,
  { vault, onProgress, clock, checkAlone }: MoveUp & { readonly checkAlone: () => Promise<void> },
): Promise<readonly Counted[]> {
  await checkMasterKey(target, vault);
  const moving = { source, target, days: createDays(target) };
  for (const [walk, table] of movedTables().entries()) {
    await move(moving, { walk, table, onProgress });
    await checkAlone();
  }
  await setCounters(target);
  await setEventNumber(target, source);
  const counted = await countBoth(source, target);
  refuseDifference(counted);
  await target.query("ANALYZE");
  await checkAlone();
  leaveBehind(source, clock.now());
  await target.query("DELETE FROM meta WHERE name = $1 OR name LIKE $2", [MOVING, `${MOVING}.%`]);
  return counted;
}

/** Throws if counts differ: then neither database is marked. */
function refuseDifference(counted: readonly Counted[]): void {
  const differing = counted.filter(({ sqlite, postgres }) => sqlite !== postgres);
  if (differing.length === 0) return;
  const each = differing.map(
    ({ what, sqlite, postgres }) => `${what}: ${sqlite} in SQLite, ${postgres} in PostgreSQL`,
  );
  throw new Error(`the counts differ (${each.join("; ")}): drop the PostgreSQL database and begin anew`);
}

/** Lets a service start on a database that was moved. False if it was not. */
export function cancelMove(path: string): boolean {
  const source = openSource(path);
  try {
    configure(source);
    return comeBack(source);
  } finally {
    source.close();
  }
}

/** Names this database, whatever its path, until a service opens it again. */
function sourceName(source: Source): string {
  const service = readSourceMeta(source, "admin_token_digest");
  if (service === undefined)
    throw new Error("there is no service in this database yet: there is nothing to move");
  return `${service} ${readSourceMeta(source, OPENINGS)}`;
}

const OTHERS = "a move of another database into this one was cut off: finish it, or drop this one";
const SERVED =
  "the service has run since its move was cut off, or its master key was changed, and what is there already may be out of date: drop the PostgreSQL database and begin anew";

async function takeTarget(target: Database, name: string): Promise<void> {
  await target.transaction(async (session) => {
    // A service that just makes its first account is waited for.
    await session.query("LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE");
    if (await isCopyOf(session, name)) return;
    // A start that ended before it made an account has left keys of its own.
    await session.query("DELETE FROM meta");
    await writeMeta(session, MOVING, name);
  });
}

/** Whether it is an unfinished copy of the named database; false if it is empty. Throws if it is neither. */
async function isCopyOf(session: Session, name: string): Promise<boolean> {
  const copied = await filledFrom(session);
  if (copied === name) return true;
  if (copied !== undefined) throw new Error(copied.split(" ")[0] === name.split(" ")[0] ? SERVED : OTHERS);
  if (await isServed(session))
    throw new Error("there is a service in the PostgreSQL database: move into an empty one");
  return false;
}

interface Step {
  /** Its index in `movedTables`. */
  readonly walk: number;
  readonly table: MovedTable;
  readonly onProgress: MoveUp["onProgress"];
}

async function move(moving: Moving, { walk, table, onProgress }: Step): Promise<void> {
  const name = `${MOVING}.${walk}` as const;
  const of = countRows(moving.source, table);
  const place = await findPlace(moving.target, name);
  const tell = (rows: number) => onProgress({ table: table.table, rows, of });
  await copyTable(moving, table, {
    place,
    keep: (session, at) => writeMeta(session, name, JSON.stringify(at)),
    onRows: tell,
  });
}

function countRows(source: Source, { table, from = table, where = "true" }: MovedTable): number {
  const sql = `SELECT count(*) AS rows FROM ${from} WHERE ${where}`;
  return source.prepare<{ rows: number }>(sql).get()?.rows ?? 0;
}

async function findPlace(session: Session, name: MetaName): Promise<Place> {
  const place = await readMeta(session, name);
  return place === undefined ? { after: null, rows: 0 } : (JSON.parse(place) as Place);
}

/** Lets new events be numbered behind the last number that was given. */
async function setEventNumber(target: Database, source: Source): Promise<void> {
  const last = source.prepare<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'events'").get();
  await target.query("UPDATE event_numbers SET last = $1", [last?.seq ?? 0]);
}
