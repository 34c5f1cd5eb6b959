import { expect, test } from "bun:test";
import { Client } from "pg";
import { makeOlderDatabase, OLDER } from "../../../test/older-database.ts";
import { freshDatabase } from "../../../test/postgres-database.ts";
import { rejection } from "../contract/world.contract.ts";
import { StoreUnavailable } from "../store.ts";
import { LONG_STATEMENT_MS, openDriver, type Session } from "./database/driver.ts";
import { LOCKS } from "./database/lock-numbers.ts";
import { waiting } from "./database/race.contract.ts";
import { isMigrated, migrate, migrateAt } from "./migrate.ts";
import { openOther, withDriver } from "./postgres-world.contract.ts";

const DONE = "SELECT number, checksum FROM migrations ORDER BY number";

test("migrating again changes nothing, also from several processes at once", () =>
  withDriver(async (driver) => {
    const once = await driver.query(DONE);
    expect(once).not.toBeEmpty();
    await Promise.all([migrate(driver), migrate(driver)]);
    expect(await driver.query(DONE)).toEqual(once);
  }));

test("a database of a newer version is refused and left as it is", () =>
  withDriver(async (driver) => {
    const before = await driver.query(DONE);
    await driver.query("INSERT INTO migrations VALUES (999, '0999_future', 'x', 999)");
    expect(String(await rejection(migrate(driver)))).toContain("newer version (0999_future), beside which");
    expect(String(await rejection(isMigrated(driver)))).toContain("start that version or a later one");
    expect(await driver.query(DONE)).toHaveLength(before.length + 1);
  }));

test("a migration that was changed after it ran is refused", () =>
  withDriver(async (driver) => {
    await driver.query("UPDATE migrations SET checksum = 'x'");
    expect(String(await rejection(migrate(driver)))).toContain("another text of 0001_first");
  }));

test("a newer database that says that it goes with this program is worked on as it is", () =>
  withDriver(async (driver) => {
    const known = (await driver.query(DONE)).length;
    await driver.query("INSERT INTO migrations VALUES (999, '0999_future', 'x', $1)", [known]);
    expect(await isMigrated(driver)).toBe(true);
    await migrate(driver);
    expect(await driver.query(DONE)).toHaveLength(known + 1);
  }));

test("a start leaves the schema as it is while a restore fills it, so that the restore can go on", () =>
  withDriver(async (driver, url) => {
    await makeOlderDatabase(url);
    await driver.query("INSERT INTO meta (name, value) VALUES ('moving_from', 'a backup')");
    expect(String(await rejection(migrateAt(url)))).toContain("half of it is missing");
    expect(await driver.query(DONE)).toHaveLength(OLDER);
    await driver.query("DELETE FROM meta WHERE name = 'moving_from'");
    await migrateAt(url);
    expect(await isMigrated(driver)).toBe(true);
  }));

test("a start with another master key leaves the schema as it is, for the processes that are at work on it", () =>
  withDriver(async (driver, url) => {
    await makeOlderDatabase(url);
    await driver.query("INSERT INTO meta (name, value) VALUES ('master_key_check', 'of another key')");
    expect(String(await rejection(openOther(url)))).toContain("written under another master key");
    expect(await driver.query(DONE)).toHaveLength(OLDER);
  }));

test("a migration does not wait behind a long transaction, and says whose it is", () =>
  withDriver(async (driver, url) => {
    const other = openDriver({ url, connections: 2 });
    await makeOlderDatabase(url);
    await other.hold(async (connection) => {
      const [own] = await connection.exec<{ pid: number }>(
        "BEGIN; LOCK TABLE migrations; SELECT pg_backend_pid() AS pid",
      );
      const refused = await rejection(migrate(driver));
      expect(refused).toBeInstanceOf(StoreUnavailable);
      expect(String(refused)).toContain(`process ${own?.pid} ("postrider", open for`);
      await connection.exec("ROLLBACK");
    });
    await migrate(driver);
    expect(await isMigrated(driver)).toBe(true);
    await other.close();
  }));

test("a process that stands still while it migrates keeps the others waiting for seconds only", async () => {
  const { url, drop } = await freshDatabase();
  await makeOlderDatabase(url);
  const driver = openDriver({ url, connections: 1, statementMs: LONG_STATEMENT_MS });
  const standStill = async (session: Session) => {
    const [limit] = await session.query<{ seconds: number }>(IDLE_LIMIT);
    throw new Error(`it may stand still for ${limit?.seconds} s`);
  };
  expect(String(await rejection(migrate(driver, { refuse: standStill })))).toContain("still for 10 s");
  await driver.close();
  await drop();
});

const IDLE_LIMIT = `SELECT extract(epoch FROM current_setting('idle_in_transaction_session_timeout')::interval)::int AS seconds`;

test("a database whose encoding lacks characters is refused, with what to do", async () => {
  const { url, drop } = await freshDatabase();
  const other = new Client({ connectionString: url });
  await other.connect();
  const name = `latin_${process.pid}`;
  await other.query(
    `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C'`,
  );
  const driver = openDriver({ url: Object.assign(new URL(url), { pathname: `/${name}` }).href });
  expect(String(await rejection(isMigrated(driver)))).toMatch(/its encoding is LATIN1, .* ENCODING 'UTF8'/);
  await driver.close();
  await other.query(`DROP DATABASE ${name}`);
  await other.end();
  await drop();
});

/** Longer than a statement takes on a busy machine. */
const LIMIT_MS = 1_000;

test("a transaction_timeout that is set for the database does not end a migration, and elsewhere is an outage", async () => {
  const { url, drop } = await freshDatabase();
  const other = new Client({ connectionString: url });
  await other.connect();
  const { rowCount } = await other.query("SELECT FROM pg_settings WHERE name = 'transaction_timeout'");
  const schema = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
  // PostgreSQL 15 and 16 have none.
  if (rowCount)
    await other.query(
      `${schema}; ALTER DATABASE ${new URL(url).pathname.slice(1)} SET transaction_timeout = ${LIMIT_MS}`,
    );
  const driver = openDriver({ url });
  if (rowCount) {
    const slow = driver.hold(async (connection) => {
      await connection.exec("BEGIN");
      await connection.exec("SELECT pg_sleep(5)");
    });
    expect(await rejection(slow)).toBeInstanceOf(StoreUnavailable);
  }
  await other.query(`BEGIN; SELECT pg_advisory_xact_lock(${LOCKS.migrating})`);
  const migrated = migrate(driver);
  await waiting(driver, 1);
  await other.query(`SELECT pg_sleep(${(1.5 * LIMIT_MS) / 1_000}); COMMIT`);
  await migrated;
  expect(await isMigrated(driver)).toBe(true);
  await driver.close();
  await other.end();
  await drop();
});
