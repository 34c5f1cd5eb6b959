import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Driver, openDriver } from "./database/driver.ts";
import { migrate } from "./migrate.ts";

const SCHEMA = join(import.meta.dir, "schema.sql");

test("the migrations lead to the reviewed schema", () => {
  const driver = openDriver(":memory:");
  migrate(driver);
  const schema = dumpSchema(driver);
  // `UPDATE_SCHEMA=1 bun test src/store/sqlite/migrate.test.ts` writes it, for review.
  if (process.env.UPDATE_SCHEMA) writeFileSync(SCHEMA, schema);
  expect(readFileSync(SCHEMA, "utf8")).toBe(schema);
  driver.close();
});

/** The schema as the database states it. */
function dumpSchema(driver: Driver): string {
  const rows = driver
    .prepare<{ sql: string }>(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name",
    )
    .all();
  return `${rows.map((row) => `${row.sql};`).join("\n\n")}\n`;
}

test("migrating again changes nothing", () => {
  const driver = openDriver(":memory:");
  const done = () => driver.prepare("SELECT number, checksum FROM migrations").all();
  migrate(driver);
  const once = done();
  migrate(driver);
  expect(once).not.toBeEmpty();
  expect(done()).toEqual(once);
  driver.close();
});

test("a database of a newer version is refused and left as it is", () => {
  const driver = openDriver(":memory:");
  migrate(driver);
  driver.exec("INSERT INTO migrations VALUES (999, '0999_future', 'x')");
  expect(() => migrate(driver)).toThrow("newer version (0999_future)");
  expect(driver.isInTransaction()).toBe(false);
  driver.close();
});

test("a migration that was changed after it ran is refused", () => {
  const driver = openDriver(":memory:");
  migrate(driver);
  driver.exec("UPDATE migrations SET checksum = 'x'");
  expect(() => migrate(driver)).toThrow("another text of 0001_first");
  driver.close();
});
