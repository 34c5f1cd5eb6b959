import { type Connection, LONG_STATEMENT_MS, openDriver } from "./database/driver.ts";
import { readMeta, refuseHalfMoved } from "./database/meta.ts";
import { type Column, columnsOf } from "./database/table-columns.ts";
import { migrationsOf, type SchemaStep } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";

/** A copy of a database as it was at one moment. */
export interface Dump {
  /** Rows by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** The migrations that made its schema. */
  readonly migrations: readonly SchemaStep[];
  /** The check value of the master key that its secrets are sealed under; see `Vault.checkValue`. */
  readonly keyCheckValue?: string;
}

export interface DumpTarget {
  /** Called with `Dump.keyCheckValue` before the first table. An error that it throws ends the dump. */
  onKey(checkValue: string | undefined): void;
  /** Begins a table. Resolves once it can take rows. */
  table(name: string, columns: readonly string[]): Promise<void>;
  /** Values as PostgreSQL writes them. Resolves when more may come. */
  rows(values: readonly (readonly (string | null)[])[]): Promise<void>;
  tableDone(rows: number): Promise<void>;
}

/** How many rows to fetch at once. Few, since a row may hold a content of 10 MiB. */
const FETCHED = 200;

/** Tables that are not backed up: they say what is true only now, or only of this database. */
const PASSING = ["leases", "lease_processes", "migrations"];

/** Reads a database in one transaction, which blocks nobody but the pruning of days. */
export async function dump(url: string, target: DumpTarget): Promise<Dump> {
  const driver = openDriver({ url, connections: 1, statementMs: LONG_STATEMENT_MS });
  try {
    return await driver.hold(async (connection) => {
      const tables = await ownTables(connection);
      if (!tables.includes("accounts")) throw new Error("there is no service in this database");
      await connection.exec("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      // Before the first query, which fixes the snapshot. This waits while the tables of a day are being replaced.
      await connection.exec(`LOCK TABLE ${tables.join(", ")} IN ACCESS SHARE MODE`);
      return dumpAll(connection, tables, target);
    });
  } finally {
    await driver.close();
  }
}

async function dumpAll(connection: Connection, tables: readonly string[], target: DumpTarget): Promise<Dump> {
  const now = await ownTables(connection);
  if (now.join() !== tables.join()) throw new Error("the schema has been changed meanwhile: back up again");
  await refuseHalfMoved(connection);
  const migrations = await migrationsOf(connection);
  const keyCheckValue = await readMeta(connection, "master_key_check");
  target.onKey(keyCheckValue);
  const rows: Record<string, number> = {};
  for (const table of tables.filter((name) => !PASSING.includes(name))) {
    const columns = await columnsOf(connection, table);
    await target.table(
      table,
      columns.map(({ name }) => name),
    );
    rows[table] = await dumpTable(connection, { table, columns, target });
    await target.tableDone(rows[table]);
  }
  return { rows, migrations, ...(keyCheckValue !== undefined && { keyCheckValue }) };
}

/** The tables of this service, without others in the database; all tables, if a newer version has added some. */
async function ownTables(connection: Connection): Promise<readonly string[]> {
  const all = await tablesOf(connection);
  if (!all.includes("migrations")) return [];
  const { length } = await migrationsOf(connection);
  return length > MIGRATIONS.length ? all : all.filter((name) => CREATED.has(name));
}

const CREATED = new Set(
  MIGRATIONS.flatMap(({ sql }) => [...sql.matchAll(/^CREATE TABLE (\w+)/gm)].map(([, name]) => name)),
);

/** All tables but partitions, which are read through the table that they belong to. */
async function tablesOf(connection: Connection): Promise<readonly string[]> {
  const rows = await connection.query<{ name: string }>(
    `SELECT relname::text AS name FROM pg_class
     WHERE relnamespace = quote_ident(current_schema)::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function dumpTable(
  connection: Connection,
  { table, columns, target }: { table: string; columns: readonly Column[]; target: DumpTarget },
): Promise<number> {
  const shown = columns.map(({ name }, index) => `${name}::text AS c${index}`);
  await connection.exec(`DECLARE walk NO SCROLL CURSOR FOR SELECT ${shown.join(", ")} FROM ${table}`);
  let count = 0;
  for (;;) {
    const rows = await connection.exec<Record<string, string | null>>(`FETCH ${FETCHED} FROM walk`);
    if (rows.length === 0) break;
    count += rows.length;
    await target.rows(rows.map((row) => columns.map((_, index) => row[`c${index}`] ?? null)));
  }
  await connection.exec("CLOSE walk");
  return count;
}
