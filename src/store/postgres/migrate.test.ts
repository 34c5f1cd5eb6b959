import { expect, test } from "bun:test";
import { rejection } from "../contract/world.contract.ts";
import { StoreUnavailable } from "../store.ts";
import { openDriver } from "./database/driver.ts";
import { isMigrated, migrate } from "./migrate.ts";
import { withDriver } from "./postgres-world.contract.ts";

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

test("a migration does not wait behind a long transaction, and says whose it is", () =>
  withDriver(async (driver, url) => {
    const other = openDriver({ url, connections: 2 });
    await driver.query("DROP INDEX registrations_by_token_hash");
    await driver.query("CREATE INDEX registrations_by_token ON registrations (token)");
    await driver.query("ALTER TABLE lease_processes DROP COLUMN is_sharing");
    await driver.query("DELETE FROM migrations WHERE number > 3");
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
