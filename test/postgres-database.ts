/** Databases for tests, with the schema in them. */
import { Client } from "pg";
import { openDriver } from "../src/store/postgres/database/driver.ts";
import { migrate } from "../src/store/postgres/migrate.ts";
import { openDrivers, type StoreDrivers } from "../src/store/postgres/open-postgres.ts";
import { postgresServer, type TestDatabase, unref } from "./postgres-server.ts";

export async function freshDatabase(): Promise<TestDatabase> {
  return (await postgresServer(prepare)).createDatabase();
}

/** A database that holds what another does, at which nobody is at work. */
export async function copyOf(original: TestDatabase): Promise<TestDatabase> {
  return (await postgresServer(prepare)).copyDatabase(original);
}

interface UsedBefore {
  readonly url: string;
  /** Stays open, since to connect takes longer than to empty; `undefined` when the server has ended it. */
  session?: Client | undefined;
}

interface Emptying {
  /** Also without the tables of days before today, with which pruning would begin, but the first. */
  readonly oldDaysToo?: boolean;
}

/** Unused databases: emptying one costs less than creating one. */
const unused: UsedBefore[] = [];

/** The same, but other tests may have used it before; `drop` leaves it to the next. */
export async function emptyDatabase(emptying: Emptying = {}): Promise<TestDatabase> {
  const database = unused.pop() ?? { url: (await freshDatabase()).url };
  return emptied(database, { ...emptying, leaveTo: unused });
}

export interface ConnectedDatabase extends TestDatabase {
  readonly drivers: StoreDrivers;
}

const connected: Connected[] = [];

interface Connected extends UsedBefore {
  readonly drivers: StoreDrivers;
}

/**
 * The same for a store of this process, on connections that stay open, and prepared, for the next: to connect and to run each
 * statement for the first time is most of the work of a short test.
 */
export async function connectedDatabase(emptying: Emptying = {}): Promise<ConnectedDatabase> {
  const database = connected.pop() ?? (await connect());
  return { ...(await emptied(database, { ...emptying, leaveTo: connected })), drivers: database.drivers };
}

async function connect(): Promise<Connected> {
  const { url } = await freshDatabase();
  const { driver, pulse } = openDrivers({ url });
  const close = async () => {};
  return { url, drivers: { driver: { ...driver, close }, pulse: { ...pulse, close } } };
}

async function emptied<Database extends UsedBefore>(
  database: Database,
  { leaveTo, oldDaysToo = false }: Emptying & { readonly leaveTo: Database[] },
): Promise<TestDatabase> {
  await empty(database, { oldDaysToo });
  let isOurs = true;
  return {
    url: database.url,
    async drop() {
      if (isOurs) leaveTo.push(database);
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
