import { createHash } from "node:crypto";
import type { OnMigration } from "../on-migration.ts";
import { StoreUnavailable } from "../store.ts";
import {
  type Connection,
  type Driver,
  LONG_STATEMENT_MS,
  OLDEST_NEEDED,
  openDriver,
  type Session,
} from "./database/driver.ts";
import { LOCKS } from "./database/lock-numbers.ts";
import { refuseHalfMoved } from "./database/meta.ts";
import { NO_TRANSACTION_TIMEOUT } from "./database/no-transaction-timeout.ts";
import { DONE_ADVICE, withAdvice } from "./database/schema-advice.ts";
import { isCollision, isLockTimeout } from "./database/sql-errors.ts";
import { isThere } from "./database/table-columns.ts";
import { MIGRATIONS, type Migration } from "./migrations.ts";

const OLDEST_SERVER = 150_000;

/** SQL_ASCII stores octets as they come. Any other encoding lacks characters, and refuses messages with them. */
const ENCODINGS: ReadonlySet<string> = new Set(["UTF8", "SQL_ASCII"]);

/** How long to wait for another process that migrates. */
const TURN_MS = 5_000;

/** How long to wait for open transactions, and for tables. Meanwhile all others wait behind us. */
const TABLE_MS = 300;

/** How long a process may stand still while it migrates, with all others waiting for it. Its statements may take longer. */
const STANDSTILL_MS = 10_000;

/**
 * Whether this program can work on the database without a migration. Throws if the server is older than 15, if its encoding lacks
 * characters, or if the database has other migrations than this program, or newer ones that it cannot work with.
 */
export async function isMigrated(session: Session): Promise<boolean> {
  return (await countDone(session)) >= MIGRATIONS.length;
}

/** Whether the database has a schema, of this program or of an older one. Throws as `isMigrated` does. */
export async function hasSchema(session: Session): Promise<boolean> {
  return (await countDone(session)) > 0;
}

async function countDone(session: Session): Promise<number> {
  await checkServer(session);
  if (!(await isThere(session, "migrations"))) return 0;
  const done = await doneIn(session);
  check(done);
  return done.length;
}

/**
 * `migrate` at a start, however long it takes. Throws if a move or a restore is filling the database: a restore can only go on
 * with the schema of its backup.
 */
export async function migrateAt(
  url: string,
  { onMigration, refuse }: Omit<MigrateOptions, "upTo"> = {},
): Promise<void> {
  const driver = openDriver({ url, connections: 1, statementMs: LONG_STATEMENT_MS });
  const refuseToo = async (session: Session) => {
    await refuseHalfMoved(session);
    await refuse?.(session);
  };
  try {
    await migrate(driver, { onMigration, refuse: refuseToo });
  } finally {
    await driver.close();
  }
}

interface MigrateOptions {
  /** For a backup of an older program: the last migration to apply. */
  readonly upTo?: number;
  readonly onMigration?: OnMigration | undefined;
  /** Called for a database that has a schema. Throws if it must not be changed. */
  readonly refuse?: (session: Session) => Promise<void>;
}

/**
 * Brings the database to this program's schema, in one transaction. Processes of another version may be at work on it: this
 * waits a moment for their open transactions, while later ones wait behind it. If the moment is too short, the caller has to try
 * again later. Throws as `isMigrated` does, too.
 *
 * @throws StoreUnavailable if open transactions are in the way; the message names the longest for the operator
 */
export async function migrate(driver: Driver, options: MigrateOptions = {}): Promise<void> {
  await driver.hold(async (connection) => {
    await checkServer(connection);
    await connection.exec(
      `BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${STANDSTILL_MS}; ${NO_TRANSACTION_TIMEOUT}`,
    );
    try {
      await connection.exec(
        `SET LOCAL lock_timeout = ${TURN_MS}; SELECT pg_advisory_xact_lock(${LOCKS.migrating})`,
      );
      await connection.exec(
        `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${TABLE_MS}; SELECT pg_advisory_xact_lock(${LOCKS.schema})`,
      );
      await migrateNow(connection, options);
      await connection.exec("COMMIT");
    } catch (error) {
      await connection.exec("ROLLBACK").catch(() => undefined);
      throw isLockTimeout(error) || isCollision(error) ? await inTheWay(connection) : withAdvice(error);
    }
  });
}

async function checkServer(session: Session): Promise<void> {
  const [row] = await session.query<{ version: number; encoding: string }>(SERVER);
  if (Number(row?.version) < OLDEST_SERVER) throw new Error(OLDEST_NEEDED);
  if (ENCODINGS.has(row?.encoding ?? "")) return;
  throw new Error(
    `its encoding is ${row?.encoding}, which lacks most characters: CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8'`,
  );
}

const SERVER = `SELECT current_setting('server_version_num')::int AS version,
  current_setting('server_encoding') AS encoding`;

async function migrateNow(
  connection: Connection,
  { upTo, onMigration, refuse }: MigrateOptions,
): Promise<void> {
  await connection.exec(`CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, works_with integer NOT NULL)`);
  const done = await doneIn(connection);
  check(done);
  const open = MIGRATIONS.slice(done.length, upTo);
  if (done.length > 0) await refuse?.(connection);
  for (const [index, migration] of open.entries()) {
    if (done.length > 0) onMigration?.({ name: migration.name, step: index + 1, of: open.length });
    await apply(connection, migration);
  }
}

/** A migration that was applied. */
export interface SchemaStep {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

/** The migrations that were applied to the database, in order. */
export function migrationsOf(session: Session): Promise<readonly SchemaStep[]> {
  return session.query<SchemaStep>("SELECT number, name, checksum FROM migrations ORDER BY number");
}

/** The migrations that this program applies to an empty database, in order. */
export function knownMigrations(): readonly SchemaStep[] {
  return MIGRATIONS.map((migration) => ({
    number: migration.number,
    name: migration.name,
    checksum: checksum(migration),
  }));
}

function doneIn(session: Session): Promise<readonly (SchemaStep & Pick<Migration, "worksWith">)[]> {
  return session
    .query<SchemaStep & Pick<Migration, "worksWith">>(
      'SELECT number, name, checksum, works_with AS "worksWith" FROM migrations ORDER BY number',
    )
    .catch((error) => {
      throw withAdvice(error, DONE_ADVICE);
    });
}

function check(done: Awaited<ReturnType<typeof doneIn>>): void {
  for (const row of done) {
    const known = MIGRATIONS.find((migration) => migration.number === row.number);
    if (known ? checksum(known) === row.checksum : row.worksWith <= MIGRATIONS.length) continue;
    throw new Error(
      known
        ? `the database was migrated with another text of ${row.name} than this version has`
        : `the database is of a newer version (${row.name}), beside which this one cannot work: start that version or a later one`,
    );
  }
}

async function apply(connection: Connection, migration: Migration): Promise<void> {
  await connection.exec(migration.sql);
  const { number, name, worksWith } = migration;
  await connection.query(
    "INSERT INTO migrations (number, name, checksum, works_with) VALUES ($1, $2, $3, $4)",
    [number, name, checksum(migration), worksWith],
  );
}

function checksum(migration: Migration): string {
  return createHash("sha256").update(migration.sql).digest("hex");
}

async function inTheWay(connection: Connection): Promise<StoreUnavailable> {
  const rows = await connection.query<{ pid: number; name: string; seconds: number }>(LONGEST);
  const longest = rows.map(({ pid, name, seconds }) => `process ${pid} ("${name}", open for ${seconds} s)`);
  return new StoreUnavailable(
    `the schema is to be changed, and open transactions are in the way: ${longest.join(", ") || "they have ended by now"}`,
  );
}

const LONGEST = `SELECT pid, application_name AS name, extract(epoch FROM now() - xact_start)::int AS seconds
  FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
    AND xact_start < now() - interval '100 ms' ORDER BY xact_start LIMIT 3`;
