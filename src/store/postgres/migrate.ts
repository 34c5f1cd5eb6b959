import { createHash } from "node:crypto";
import type { Connection, Driver, Session } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";
import first from "./migrations/0001_first.sql" with { type: "text" };
import leases from "./migrations/0002_leases.sql" with { type: "text" };

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** In order; forward only. A file that has been released is never changed: its checksum is kept. */
const MIGRATIONS: readonly Migration[] = [
  { number: 1, name: "0001_first", sql: first },
  { number: 2, name: "0002_leases", sql: leases },
];

const OLDEST_SERVER = 150_000;

/**
 * Brings the database to this program's schema, in one transaction that other processes wait for. Throws where the
 * server is older than 15, the database was written by a newer program, or by migrations that are not these.
 *
 * @param upTo for a backup of an older program: the last migration to apply
 */
export async function migrate(driver: Driver, upTo = MIGRATIONS.length): Promise<void> {
  await driver.hold(async (connection) => {
    await connection.exec("BEGIN");
    try {
      await checkServer(connection);
      await connection.exec(`SELECT pg_advisory_xact_lock(${LOCKS.migrating})`);
      await migrateNow(connection, upTo);
      await connection.exec("COMMIT");
    } catch (error) {
      await connection.exec("ROLLBACK").catch(() => undefined);
      throw error;
    }
  });
}

async function checkServer(connection: Connection): Promise<void> {
  const [row] = await connection.query<{ server_version_num: string }>("SHOW server_version_num");
  if (Number(row?.server_version_num) < OLDEST_SERVER) throw new Error("PostgreSQL 15 or later is needed");
}

async function migrateNow(connection: Connection, upTo: number): Promise<void> {
  await connection.exec(
    "CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL)",
  );
  const done = await migrationsOf(connection);
  for (const row of done) check(row);
  for (const migration of MIGRATIONS.slice(done.length, upTo)) await apply(connection, migration);
}

/** One that was applied. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** In order. */
export function migrationsOf(session: Session): Promise<readonly SchemaStep[]> {
  return session.query<SchemaStep>("SELECT number, name, checksum FROM migrations ORDER BY number");
}

function check(row: SchemaStep): void {
  const known = MIGRATIONS.find((migration) => migration.number === row.number);
  if (!known) throw new Error(`the database is of a newer version (${row.name}), which this one cannot read`);
  if (checksum(known) !== row.checksum) {
    throw new Error(`the database was migrated with another text of ${row.name} than this version holds`);
  }
}

async function apply(connection: Connection, migration: Migration): Promise<void> {
  await connection.exec(migration.sql);
  const { number, name } = migration;
  await connection.query("INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)", [
    number,
    name,
    checksum(migration),
  ]);
}

function checksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}
