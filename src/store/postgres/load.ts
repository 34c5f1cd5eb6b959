import type { Clock } from "../../core/clock.ts";
import { uuidTime } from "../../core/uuid.ts";
import { numberAfterRestore } from "../events/number-after-restore.ts";
import { MOVING } from "../meta.ts";
import { LONG_STATEMENT_MS, openDriver, type Session } from "./database/driver.ts";
import { fillAlone } from "./database/fill-alone.ts";
import { filledFrom, isServed, removeMeta, writeMeta } from "./database/meta.ts";
import { type Column, columnsOf, isThere, setCounters } from "./database/table-columns.ts";
import { type Database, openClosable } from "./database/transactions.ts";
import type { Dump } from "./dump.ts";
import { knownMigrations, migrate, migrationsOf, type SchemaStep } from "./migrate.ts";
import { createDays, type Days } from "./retention/days.ts";

export interface LoadSource {
  readonly dump: Dump;
  /** Names the dump: an interrupted load may only be repeated with the same one. */
  readonly name: string;
  /** Rows of a table, in chunks, with their values in the order of `columns`. */
  readonly read: (table: string) => AsyncIterable<readonly (readonly (string | null)[])[]>;
  readonly columns: (table: string) => Promise<readonly string[]>;
  readonly onTable: (table: string, rows: number) => void;
  /** Called when the load begins to write rows, and when it is complete. */
  readonly onStage?: (stage: "begun" | "complete") => void;
}

/**
 * Loads a dump into an empty database, with the schema it was made with. Until it is complete, and its counts have been
 * compared, no service starts on it; an interrupted load may be repeated.
 */
export async function load(url: string, clock: Clock, source: LoadSource): Promise<void> {
  const driver = openDriver({ url, connections: 3, statementMs: LONG_STATEMENT_MS });
  const closable = openClosable(driver, clock);
  try {
    await fillAlone(driver, async (checkAlone) => {
      // Before the migration, so that a database that is refused keeps its schema.
      await refuse(closable.database, source);
      await migrate(driver, { upTo: source.dump.migrations.length });
      await takeTarget(closable.database, source);
      source.onStage?.("begun");
      await fill(closable.database, { source, checkAlone, now: clock.now() });
      source.onStage?.("complete");
    });
  } finally {
    await closable.close();
  }
}

interface Filling {
  readonly source: LoadSource;
  readonly checkAlone: () => Promise<void>;
  readonly now: number;
}

async function fill(target: Database, { source, checkAlone, now }: Filling): Promise<void> {
  const days = createDays(target);
  for (const table of await inOrder(target, Object.keys(source.dump.rows))) {
    const rows = await loadTable(target, days, { table, source });
    await checkAlone();
    source.onTable(table, rows);
  }
  await checkCounts(target, source.dump);
  await endLeases(target, now);
  await setCounters(target);
  await target.query("UPDATE event_numbers SET last = greatest(last, $1)", [numberAfterRestore(now)]);
  await target.query("ANALYZE");
  await checkAlone();
  await removeMeta(target, MOVING);
}

async function refuse(session: Session, source: LoadSource): Promise<void> {
  await refuseInUse(session, source);
  const { migrations } = source.dump;
  if (!isBeginning(migrations, knownMigrations())) {
    throw new Error("the backup was made by a newer program: restore it with that one, or a later one");
  }
  const done = (await isThere(session, "migrations")) ? await migrationsOf(session) : [];
  if (isBeginning(done, migrations)) return;
  throw new Error("the database has another schema than the backup: restore into an empty one");
}

/** Throws unless the target is empty, or holds an interrupted load of the same dump. */
async function refuseInUse(session: Session, { name }: LoadSource): Promise<void> {
  if (!(await isServed(session)) || (await filledFrom(session)) === name) return;
  throw new Error(
    "there is a service in this database, and nothing is overwritten: restore into an empty one",
  );
}

function isBeginning(of: readonly SchemaStep[], all: readonly SchemaStep[]): boolean {
  return of.every((step, index) => step.checksum === all[index]?.checksum);
}

async function takeTarget(target: Database, source: LoadSource): Promise<void> {
  await target.transaction(async (session) => {
    // Waits for a service that is making its first account.
    await session.query("LOCK TABLE meta, accounts IN ACCESS EXCLUSIVE MODE");
    await refuseInUse(session, source);
    await session.query(`TRUNCATE ${Object.keys(source.dump.rows).join(", ")} CASCADE`);
    await writeMeta(session, MOVING, source.name);
  });
}

/** Orders tables so that each comes after those that it refers to. */
async function inOrder(session: Session, tables: readonly string[]): Promise<readonly string[]> {
  const references = await session.query<{ child: string; parent: string }>(
    `SELECT conrelid::regclass::text AS child, confrelid::regclass::text AS parent FROM pg_constraint
     WHERE contype = 'f' AND conrelid <> confrelid`,
  );
  const ordered: string[] = [];
  const waiting = new Set(tables);
  while (waiting.size > 0) {
    const ready = [...waiting].filter(
      (table) => !references.some(({ child, parent }) => child === table && waiting.has(parent)),
    );
    if (ready.length === 0)
      throw new Error("tables refer to one another in a circle, so that none can be filled first");
    for (const table of ready) waiting.delete(table);
    ordered.push(...ready);
  }
  return ordered;
}

const DAY_OF: Readonly<Record<string, string>> = {
  messages: "id",
  contents: "id",
  timeline: "message_id",
  events: "subject_id",
};

async function loadTable(
  target: Database,
  days: Days,
  { table, source }: { readonly table: string; readonly source: LoadSource },
): Promise<number> {
  const columns = await chosenColumns(target, table, await source.columns(table));
  const insert = insertOf(table, columns);
  const dayColumn = columns.findIndex(({ name }) => name === DAY_OF[table]);
  let count = 0;
  for await (const rows of source.read(table)) {
    if (dayColumn >= 0) await days.ensure(rows.map((row) => uuidTime(row[dayColumn] ?? "") ?? 0));
    await target.transaction((session) =>
      session.query(
        insert,
        columns.map((_, index) => rows.map((row) => row[index] ?? null)),
      ),
    );
    count += rows.length;
  }
  return count;
}

async function chosenColumns(
  session: Session,
  table: string,
  names: readonly string[],
): Promise<readonly Column[]> {
  const own = await columnsOf(session, table);
  return names.map((name) => {
    const column = own.find((each) => each.name === name);
    if (!column) throw new Error(`the backup has a column ${table}.${name} that the database does not have`);
    return column;
  });
}

/** Takes values as text, in the form in which PostgreSQL wrote them. */
function insertOf(table: string, columns: readonly Column[]): string {
  const names = columns.map(({ name }) => name).join(", ");
  const values = columns.map(({ type }, index) => `t.c${index}::${type}`).join(", ");
  const lists = columns.map((_, index) => `$${index + 1}::text[]`).join(", ");
  const aliases = columns.map((_, index) => `c${index}`).join(", ");
  const kept = table === "meta" ? `WHERE t.c0 <> '${MOVING}'` : "";
  return `INSERT INTO ${table} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM unnest(${lists}) AS t (${aliases}) ${kept}`;
}

async function checkCounts(session: Session, { rows }: Dump): Promise<void> {
  for (const [table, expected] of Object.entries(rows)) {
    const own = table === "meta" ? `WHERE name <> '${MOVING}'` : "";
    const [found] = await session.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${table} ${own}`);
    if (found?.rows !== expected)
      throw new Error(`${table} has ${found?.rows} rows, but ${expected} were backed up`);
  }
}

/** Ends all leases: their processes work on the database that was backed up, so none of them will end them here. */
async function endLeases(session: Session, now: number): Promise<void> {
  await session.query("UPDATE jobs SET due_at = $1 WHERE is_leased AND due_at > $1", [now]);
  await session.query("UPDATE webhooks SET due_at = $1 WHERE state = 'leased' AND due_at > $1", [now]);
}
