import { expect, test } from "bun:test";
import { Client } from "pg";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { StoreUnavailable } from "../../store.ts";
import { withDriver } from "../postgres-world.contract.ts";
import { type Driver, openDriver } from "./driver.ts";
import { LOCKS } from "./lock-numbers.ts";
import { type Database, openClosable } from "./transactions.ts";

const INSERT = "INSERT INTO meta (name, value) VALUES ('a', 'b')";

interface Locked {
  readonly url: string;
  /** Cancels the statement that waits for the lock, once one does. */
  readonly cancelWaiting: () => Promise<unknown>;
  readonly unlock: () => Promise<unknown>;
}

const CANCEL_WAITING = `SELECT pg_cancel_backend(pid) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

/** Somebody else holds the lock that every transaction asks for at its beginning. */
async function whileLocked(run: (locked: Locked) => Promise<void>): Promise<void> {
  const database = await freshDatabase();
  const other = new Client({ connectionString: database.url });
  await other.connect();
  await other.query(`SELECT pg_advisory_lock(${LOCKS.schema})`);
  try {
    await run({
      url: database.url,
      cancelWaiting: () => until(async () => (await other.query(CANCEL_WAITING)).rowCount),
      unlock: () => other.query(`SELECT pg_advisory_unlock(${LOCKS.schema})`),
    });
  } finally {
    await other.end();
    await database.drop();
  }
}

test("where a transaction cannot begin its first statement, sent along with the beginning, does nothing", () =>
  whileLocked(async ({ url, cancelWaiting, unlock }) => {
    const driver = openDriver({ url, connections: 1 });
    const { database, close } = openClosable(driver, createSystemClock());
    const insert = () => database.transaction((session) => session.query(INSERT));
    const refused = insert().catch((error: unknown) => error);
    await cancelWaiting();
    expect(await refused).toBeInstanceOf(StoreUnavailable);
    await unlock();
    expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toEqual([]);
    // On the same connection, which is of use again.
    await insert();
    expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toHaveLength(1);
    await close();
  }));

for (const pooled of ["", "?prepare=false"]) {
  test(`where a server refuses to begin, as when somebody cancels what it does just then, nothing behind it is stored${pooled}`, () =>
    withDriver(async (_, url) => {
      const driver = openDriver({ url: url + pooled, connections: 1 });
      const refused = { ...driver, hold: holdMisspelt(driver, "BEGIN") };
      const { database, close } = openClosable(refused, createSystemClock());
      const insert = database.transaction(async (session) => {
        session.run(INSERT);
        await session.query("SELECT 1");
      });
      await expect(insert).rejects.toThrow("BEGINM");
      expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toEqual([]);
      await close();
    }));
}

test("nothing behind a beginning that failed is stored where the role may not end sessions, as one that the URL sets may not end those of who has logged in", () =>
  withDriver(async (admin, url) => {
    const role = `role_${new URL(url).pathname.slice(1)}`;
    await admin.query("REVOKE EXECUTE ON FUNCTION pg_terminate_backend(integer, bigint) FROM PUBLIC");
    await admin.query(`CREATE ROLE ${role}`);
    await admin.query(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    const driver = openDriver({ url: `${url}?options=-c%20role%3D${role}`, connections: 1 });
    const insertInto = (database: Database) =>
      database.transaction(async (session) => {
        session.run(INSERT);
        await session.query("SELECT 1");
      });
    const refused = openClosable({ ...driver, hold: holdMisspelt(driver, "BEGIN") }, createSystemClock());
    await expect(insertInto(refused.database)).rejects.toThrow("BEGINM");
    const { database, close } = openClosable(driver, createSystemClock());
    expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toEqual([]);
    await insertInto(database);
    await close();
    await admin.query(`DROP OWNED BY ${role}`);
    await admin.query(`DROP ROLE ${role}`);
  }));

/** The server gets a word that it does not know in the place of one that begins or ends a transaction. */
function holdMisspelt(driver: Driver, word: "BEGIN" | "ROLLBACK"): Driver["hold"] {
  return (work) =>
    driver.hold((connection) =>
      work({ ...connection, exec: (sql) => connection.exec(sql.replace(word, `${word}M`)) }),
    );
}

for (const pooled of ["", "?prepare=false"]) {
  test(`a connection whose transaction could not be rolled back, as when somebody cancels that, is not used for the next${pooled}`, () =>
    withDriver(async (_, url) => {
      const driver = openDriver({ url: url + pooled, connections: 1 });
      const misspelt = { ...driver, hold: holdMisspelt(driver, "ROLLBACK") };
      const { database, close } = openClosable(misspelt, createSystemClock());
      const refused = database.transaction(async (session) => {
        await session.query(INSERT);
        throw new Error("refused");
      });
      await expect(refused).rejects.toThrow("refused");
      expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toEqual([]);
      await close();
    }));
}

const INSERT_NOTHING = "INSERT INTO meta (name, value) VALUES ('b', NULL)";

for (const pooled of ["", "?prepare=false"]) {
  test(`if a statement fails that nobody waits for, the next one fails with its error, and nothing is stored${pooled}`, () =>
    withDriver(async (_, url) => {
      const { database, close } = openClosable(openDriver({ url: url + pooled }), createSystemClock());
      const beforeQuery = database.transaction(async (session) => {
        session.run(INSERT);
        session.run(INSERT_NOTHING);
        await session.query("SELECT 1");
      });
      const beforeCommit = database.transaction(async (session) => {
        await session.query(INSERT);
        session.run(INSERT_NOTHING);
      });
      const alone = database.transaction(async (session) => session.run(INSERT_NOTHING));
      const atOnce = database.transaction(async (session) => {
        session.run(INSERT_NOTHING);
        await Promise.all([session.query("SELECT 1"), session.query("SELECT 2")]);
      });
      for (const failed of [beforeQuery, beforeCommit, alone, atOnce])
        await expect(failed).rejects.toThrow("violates not-null constraint");
      expect(await database.query("SELECT 1 FROM meta WHERE name = 'a'")).toEqual([]);
      await close();
    }));
}

test("statements that nobody waits for are run in the order in which they were given", () =>
  withDriver(async (_, url) => {
    const { database, close } = openClosable(openDriver({ url }), createSystemClock());
    const seen = await database.transaction(async (session) => {
      session.run(INSERT);
      session.run("UPDATE meta SET value = $1 WHERE name = 'a'", ["c"]);
      const rows = await session.query("SELECT value FROM meta WHERE name = 'a'");
      session.run("UPDATE meta SET value = value || $1 WHERE name = 'a'", ["d"]);
      return rows;
    });
    expect(seen).toEqual([{ value: "c" }]);
    expect(await database.query("SELECT value FROM meta WHERE name = 'a'")).toEqual([{ value: "cd" }]);
    await close();
  }));

test("a transaction that asks nothing begins nothing", () =>
  whileLocked(async ({ url }) => {
    const { database, close } = openClosable(openDriver({ url, connections: 1 }), createSystemClock());
    expect(await database.transaction(async () => 1)).toBe(1);
    await close();
  }));

test("whatever isolation is set for the database, a statement sees what others committed since the one before it", async () => {
  const { url, drop } = await freshDatabase();
  const other = new Client({ connectionString: url });
  await other.connect();
  await other.query(
    `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET default_transaction_isolation = 'serializable'`,
  );
  for (const pooled of ["", "?prepare=false"]) {
    const { database, close } = openClosable(openDriver({ url: url + pooled }), createSystemClock());
    const found = await database.transaction(async (session) => {
      await session.query("SELECT 1 FROM meta");
      await other.query("INSERT INTO meta (name, value) VALUES ($1, '')", [`since${pooled}`]);
      return session.query("SELECT 1 FROM meta WHERE name = $1", [`since${pooled}`]);
    });
    expect(found).toHaveLength(1);
    await close();
  }
  await other.end();
  await drop();
});

for (const [pooled, statements] of [
  ["", 2],
  ["?prepare=false", 3],
] as const) {
  test(`a transaction with a statement takes ${statements} round trips${pooled}`, () =>
    withDriver(async (_, url) => {
      const proxy = await openPostgresProxy(url);
      const driver = openDriver({ url: proxy.url + pooled, connections: 1 });
      const { database, close } = openClosable(driver, createSystemClock());
      const select = () => database.transaction((session) => session.query("SELECT 1"));
      await select();
      const before = proxy.roundTrips();
      await select();
      expect(proxy.roundTrips() - before).toBe(statements);
      await close();
      await proxy.close();
    }));
}

test("a transaction whose connection has fallen silent is given up once, and not waited for again to be rolled back", async () => {
  const { url, drop } = await freshDatabase();
  const proxy = await openPostgresProxy(url);
  const driver = openDriver({ url: proxy.url, connections: 1, statementMs: 500 });
  const { database, close } = openClosable(driver, createSystemClock());
  let begunMs = 0;
  const silent = database.transaction(async (session) => {
    await session.query("SELECT 1");
    proxy.silence();
    begunMs = performance.now();
    await session.query("SELECT 2");
  });
  await expect(silent).rejects.toThrow("cannot be reached");
  // A statement's own limit, and 5 s more for the server to say so.
  expect(performance.now() - begunMs).toBeLessThan(10_000);
  await proxy.close();
  await close();
  await drop();
});
