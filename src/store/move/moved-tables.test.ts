import { expect, test } from "bun:test";
import { columnsOf } from "../postgres/database/table-columns.ts";
import { withDriver } from "../postgres/postgres-world.contract.ts";
import { openDriver } from "../sqlite/database/driver.ts";
import { migrate } from "../sqlite/migrate.ts";
import { LEFT_BEHIND, movedTables } from "./moved-tables.ts";

const source = openDriver(":memory:");
migrate(source);

const tables = source
  .prepare<{ name: string }>("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'")
  .all()
  .map(({ name }) => name)
  .filter((name) => !name.startsWith("sqlite_"));

test("every table of SQLite moves, or it is said why not", () => {
  const named = [...movedTables().map(({ table }) => table), ...Object.keys(LEFT_BEHIND)];
  expect([...new Set(named)].toSorted()).toEqual(tables.toSorted());
});

test("every column of PostgreSQL has one of SQLite that it is filled from", () =>
  withDriver(async (driver) => {
    for (const { table, from = table, read = {} } of movedTables()) {
      const own = source.prepare<{ name: string }>("SELECT name FROM pragma_table_info(?)").all(from);
      const known = new Set([...own.map(({ name }) => name), ...Object.keys(read)]);
      const missing = (await columnsOf(driver, table)).filter(({ name }) => !known.has(name));
      expect([table, missing]).toEqual([table, []]);
    }
  }));
