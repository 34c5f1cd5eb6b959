import { expect, test } from "bun:test";
import { rejection } from "../contract/world.contract.ts";
import { migrate } from "./migrate.ts";
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
    await driver.query("INSERT INTO migrations VALUES (999, '0999_future', 'x')");
    expect(String(await rejection(migrate(driver)))).toContain("newer version (0999_future)");
    expect(await driver.query(DONE)).toHaveLength(before.length + 1);
  }));

test("a migration that was changed after it ran is refused", () =>
  withDriver(async (driver) => {
    await driver.query("UPDATE migrations SET checksum = 'x'");
    expect(String(await rejection(migrate(driver)))).toContain("another text of 0001_first");
  }));
