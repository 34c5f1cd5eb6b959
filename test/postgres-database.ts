/** Databases for tests, with the schema in them. */
import { Client } from "pg";
import { openDriver } from "../src/store/postgres/database/driver.ts";
import { migrate } from "../src/store/postgres/migrate.ts";
import { postgresServer, type TestDatabase, unref } from "./postgres-server.ts";

export async function freshDatabase(): Promise<TestDatabase> {
  return (await postgresServer(prepare)).createDatabase();
}

/** A database that holds what another does, at which nobody is at work. */
export async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  return (await postgresServer(prepare)).copyDatabase(original);
}

/** Unused databases: emptying one costs less than creating one. */
const unused: UsedBefore[] = [];

interface UsedBefore {
  readonly url: string;
  /** Stays open, since to connect takes longer than to empty; `undefined` when the server has ended it. */
  session?: Client | undefined;
}

/**
 * The same, but other tests may have used it before; `drop` leaves it to the next. `oldDaysToo`: also without the tables
 * of days before today, with which pruning would begin, but the first.
 */
export async function emptyDatabase({ oldDaysToo = false } = {}): Promise<TestDatabase> {
  const database = unused.pop() ?? { url: (await freshDatabase()).url };
  await empty(database, { oldDaysToo });
  let isOurs = true;
  return {
    url: database.url,
    async drop() {
      if (isOurs) unused.push(database);
      isOurs = false;
    },
  };
}

/** A table that nothing was ever written to has no pages. */
const EMPTY = `DO $$ DECLARE name text; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_relation_size(oid) > 0
    AND relnamespace = 'public'::regnamespace AND relname NOT IN ('migrations', 'event_numbers')
  LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
END $$`;

/** On which the clocks of tests begin: nearly every test would make the tables of that day again. */
const FIRST_DAY = "20260115";

const DROP_OLD_DAYS = `DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r'
    AND right(relname, 8) < to_char(now() AT TIME ZONE 'UTC', 'YYYYMMDD') AND right(relname, 8) <> '${FIRST_DAY}'
  LOOP EXECUTE format('DROP TABLE %I', name); END LOOP;
END $$`;

async function empty(database: UsedBefore, { oldDaysToo }: { oldDaysToo: boolean }): Promise<void> {
  database.session ??= await openSession(database);
  await database.session.query(oldDaysToo ? `${EMPTY}; ${DROP_OLD_DAYS}` : EMPTY);
}

async function openSession(database: UsedBefore): Promise<Client> {
  const client = new Client({ connectionString: database.url });
  client.on("error", () => {
    database.session = undefined;
  });
  await client.connect();
  unref(client);
  return client;
}

async function prepare(url: string): Promise<void> {
  const driver = openDriver({ url });
  await migrate(driver);
  await driver.close();
}
