import { expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { StoreDamaged } from "../../outage.ts";
import { StoreUnavailable } from "../../store.ts";
import { withDriver } from "../postgres-world.contract.ts";
import { type Driver, type DriverOptions, LONG_STATEMENT_MS, openDriver } from "./driver.ts";
import { openClosable } from "./transactions.ts";

const PREPARED = "SELECT count(*) AS count FROM pg_prepared_statements";

for (const [setting, count] of [
  ["prepare=true", 2],
  ["prepare=false", 0],
] as const) {
  test(`with ${setting} a connection keeps ${count} of two statements prepared, and both work`, () =>
    withDriver(async (_, base) => {
      const driver = openDriver({ url: `${base}?${setting}`, connections: 1 });
      for (const name of ["ann", "bob"]) {
        const values = [name, [1, 2]];
        const [row] = await driver.query("SELECT $1::text AS name, $2::int[] AS list", values);
        expect(row).toEqual({ name, list: [1, 2] });
        expect(await driver.query("SELECT $1::bigint AS time", [1])).toEqual([{ time: 1 }]);
      }
      const [found] = await driver.hold((connection) => connection.exec<{ count: number }>(PREPARED));
      expect(found?.count).toBe(count);
      await driver.close();
    }));
}

/** What a session was started with: through a socket of the file system nothing of it has an effect. */
const NETWORK = "SELECT name, reset_val AS value FROM pg_settings WHERE name LIKE 'tcp_%' ORDER BY name";

test("the server is to notice within a minute that a process is gone, or takes no answers", () =>
  withDriver(async (_, url) => {
    const settingsOf = async (options: Omit<DriverOptions, "url">, query = "") => {
      const driver = openDriver({ url: url + query, connections: 1, ...options });
      const rows = await driver.query<{ name: string; value: string }>(NETWORK);
      await driver.close();
      return Object.fromEntries(rows.map(({ name, value }) => [name, Number(value)]));
    };
    const { tcp_user_timeout, ...keepalives } = await settingsOf({});
    const { tcp_keepalives_idle = 0, tcp_keepalives_interval = 0, tcp_keepalives_count = 0 } = keepalives;
    expect(tcp_user_timeout).toBe(30_000);
    expect(tcp_keepalives_idle).toBeGreaterThan(0);
    expect(tcp_keepalives_idle + tcp_keepalives_interval * tcp_keepalives_count).toBeLessThanOrEqual(60);
    // The rows of a backup are written to a disk, which may keep the server waiting.
    expect(await settingsOf({ statementMs: LONG_STATEMENT_MS })).toEqual({
      ...keepalives,
      tcp_user_timeout: 0,
    });
    expect(await settingsOf({}, "?options=-c%20tcp_keepalives_idle%3D300")).toMatchObject({
      tcp_keepalives_idle: 300,
    });
  }));

test("a table whose file is gone is damaged, and the others can be used", () =>
  withDriver(async (driver, url) => {
    await driver.query("CREATE TABLE lost ()");
    await driver.query("CHECKPOINT");
    const [file] = await driver.query<{ path: string }>(
      "SELECT current_setting('data_directory') || '/' || pg_relation_filepath('lost') AS path",
    );
    await rename(file?.path ?? "", `${file?.path}.away`);
    // Through other connections: those of before have the file open.
    const other = openDriver({ url, connections: 1 });
    try {
      const read = other.query("SELECT * FROM lost").then(String, (error: unknown) => error);
      expect(await read).toBeInstanceOf(StoreDamaged);
      expect(await other.query("SELECT count(*) AS count FROM jobs")).toEqual([{ count: 0 }]);
    } finally {
      await rename(`${file?.path}.away`, file?.path ?? "");
      await other.close();
    }
  }));

test("a statement is planned once for a connection, whatever its values", () =>
  withDriver(async (_, url) => {
    const driver = openDriver({ url, connections: 1 });
    for (const ids of [[1], [1, 2, 3], []])
      await driver.query("SELECT m.* FROM unnest($1::bigint[]) AS t (id) JOIN jobs m ON m.id = t.id", [ids]);
    const [planned] = await driver.hold((connection) => connection.exec(PLANNED));
    expect(planned).toEqual({ for_values: 0, for_any: 3 });
    await driver.close();
  }));

const PLANNED = "SELECT custom_plans AS for_values, generic_plans AS for_any FROM pg_prepared_statements";

test("what was prepared before another version added a column works after it, alone and in a transaction", () =>
  withDriver(async (driver) => {
    const { database } = openClosable(driver, createSystemClock());
    await driver.query("CREATE TABLE words (word text)");
    await driver.query("INSERT INTO words VALUES ('one')");
    const read = () => driver.query("SELECT * FROM words");
    const readWithin = () => database.transaction((session) => session.query("SELECT * FROM words"));
    const both = () => Promise.all([read(), read(), readWithin(), readWithin()]);
    await both();
    for (const column of ["first", "second"]) {
      await driver.query(`ALTER TABLE words ADD COLUMN ${column} integer NOT NULL DEFAULT 7`);
      for (const rows of await both()) expect(rows).toEqual([expect.objectContaining({ [column]: 7 })]);
    }
    // A pooler prepares one text once, and would answer another name of it with what it has.
    const [texts] = await driver.hold((connection) => connection.exec<Record<string, number>>(TEXTS));
    expect(texts?.different).toBe(Number(texts?.all));
    await driver.query("ALTER TABLE words ADD COLUMN third integer NOT NULL DEFAULT 7");
    expect(await readWithin()).toEqual([{ word: "one", first: 7, second: 7, third: 7 }]);
  }));

const TEXTS = `SELECT count(*) AS all, count(DISTINCT statement) AS different
  FROM pg_prepared_statements WHERE statement LIKE 'SELECT * FROM words%'`;

test("a statement has one name in all processes, in whatever order they need it", () =>
  withDriver(async (driver, url) => {
    const other = openDriver({ url, connections: 1 });
    const [one, two] = ["SELECT 1 AS one", "SELECT 2 AS two"] as const;
    const namesIn = async (of: Driver, statements: readonly string[]) => {
      for (const sql of statements) await of.query(sql);
      return of.hold((connection) => connection.exec(NAMES));
    };
    expect(await namesIn(driver, [one, two])).toEqual(await namesIn(other, [two, one]));
    await other.close();
  }));

const NAMES = "SELECT statement, name FROM pg_prepared_statements ORDER BY statement";

test("where a pooler loses what was prepared, the error says what to do", () =>
  withDriver(async (_, url) => {
    const driver = openDriver({ url, connections: 1 });
    const read = () => driver.query("SELECT 1 AS one");
    await read();
    await driver.hold((connection) => connection.exec("DEALLOCATE ALL"));
    await expect(read()).rejects.toThrow("DATABASE_URL has to end with ?prepare=false");
    await driver.close();
  }));

test("while all connections are busy a thousand calls wait, and more are refused at once", () =>
  withDriver(async (_, url) => {
    const driver = openDriver({ url, connections: 1 });
    const isOver = Promise.withResolvers<void>();
    const isHeld = Promise.withResolvers<void>();
    const busy = driver.hold(() => {
      isHeld.resolve();
      return isOver.promise;
    });
    await isHeld.promise;
    const waiting = Array.from({ length: 1_000 }, () => driver.query("SELECT 1 AS one"));
    await expect(driver.query("SELECT 1 AS one")).rejects.toBeInstanceOf(StoreUnavailable);
    isOver.resolve();
    await busy;
    const [first, ...others] = await Promise.allSettled(waiting);
    expect(first?.status).toBe("fulfilled");
    // None is refused, but where a thousand answers take long the last ones do not come in time.
    for (const each of others)
      if (each.status === "rejected") expect(String(each.reason)).toContain("timeout exceeded");
    await driver.close();
  }));
