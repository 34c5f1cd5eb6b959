/** Ways for tests to open a store on PostgreSQL, each on a database of its own, and to look behind it. */
import { beforeAll } from "bun:test";
import { randomBytes } from "node:crypto";
import { keptPort } from "../../../test/fakes/kept-port.ts";
import { openPostgresProxy, type PostgresProxy } from "../../../test/fakes/postgres-proxy.ts";
import { connectedDatabase } from "../../../test/postgres-database.ts";
import { postgresServer } from "../../../test/postgres-server.ts";
import { createSystemClock } from "../../cli/system-clock.ts";
import type { Inside } from "../contract/world.contract.ts";
import type { Store } from "../store.ts";
import { createVault } from "../vault.ts";
import { type Driver, openDriver, type Session } from "./database/driver.ts";
import { migrate } from "./migrate.ts";
import { openOn, openPostgres, type PostgresOptions, type PostgresStore } from "./open-postgres.ts";

export const VAULT = createVault({ masterKey: "a master key of some length", randomBytes });

async function prepare(url: string): Promise<void> {
  const driver = openDriver({ url });
  await migrate(driver);
  await driver.close();
}

/** The first test is not to pay for the server. */
beforeAll(async () => void (await postgresServer(prepare)), 120_000);

/** A store on a database that others may have open too. */
export function openOther(url: string, options: Partial<PostgresOptions> = {}): Promise<PostgresStore> {
  return openPostgres({ url, vault: VAULT, clock: createSystemClock(), ...options });
}

/** Opens a store on a new database; the database goes when the store is closed. */
export async function openFresh(options: Partial<PostgresOptions> = {}) {
  const { url, drop } = await (await postgresServer(prepare)).createDatabase();
  const store = await openOther(url, options);
  const driver = openDriver({ url, connections: 1 });
  const close = async () => {
    await driver.close();
    await store.close();
    await drop().catch(() => undefined);
  };
  return {
    url,
    store: { ...store, close },
    inside: lookInside(driver),
  };
}

/**
 * The same on a database, and on connections, that others may have used before: that is there sooner. Tables of later days
 * may stand in it.
 */
export async function openEmptied() {
  const { url, drivers, drop } = await connectedDatabase({ oldDaysToo: true });
  const store = await openOn(drivers, { url, vault: VAULT, clock: createSystemClock() });
  const close = async () => {
    await store.close();
    await drop();
  };
  return { store: { ...store, close }, inside: lookInside(drivers.driver) };
}

export interface ProxiedStore {
  /** Of another process, which does not need the proxy. */
  readonly near: Store;
  /** Its way to the database goes through the proxy. */
  readonly far: Store;
  readonly proxy: PostgresProxy;
  /** Opens that way again, once the proxy is closed. */
  openAgain(): Promise<void>;
}

/** Runs a test with two stores on a new database, and closes both whatever happens. `options`: of the one behind the proxy. */
export async function behindProxy(
  run: (stores: ProxiedStore) => Promise<void>,
  options: Partial<PostgresOptions> = {},
): Promise<void> {
  const { store: near, url } = await openFresh();
  const port = await keptPort();
  const proxy = await openPostgresProxy(url, port);
  const proxies = [proxy];
  const far = await openOther(proxy.url, options);
  try {
    await run({
      near,
      far,
      proxy,
      openAgain: async () => void proxies.push(await openPostgresProxy(url, port)),
    });
  } finally {
    await far.close();
    for (const each of proxies) await each.close();
    await near.close();
  }
}

const HAS_BODY =
  "SELECT 1 FROM messages m JOIN contents c ON c.id = m.content WHERE m.id = $1 AND c.body IS NOT NULL";

const COUNT_ROWS = `SELECT (SELECT count(*) FROM messages WHERE id = $1)
  + (SELECT count(*) FROM jobs WHERE message_id = $1)
  + (SELECT count(*) FROM timeline WHERE message_id = $1)
  + (SELECT count(*) FROM new_events WHERE subject_id = $1)
  + (SELECT count(*) FROM events WHERE subject_id = $1)
  + (SELECT count(*) FROM provider_ids WHERE message_id = $1)
  + (SELECT count(*) FROM unconfirmed_parts WHERE message_id = $1)
  + (SELECT count(*) FROM overdue_receipts WHERE message_id = $1)
  + (SELECT count(*) FROM webhooks WHERE message_id = $1)
  + (SELECT count(*) FROM contents WHERE id <= $1 AND last_message_id >= $1) AS count`;

/** With the code of a page whose checksum is wrong. */
const RAISE = `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
  AS $$ BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$`;

function lookInside(session: Session): Inside {
  return {
    change: (sql) => session.query(sql),
    async refuse(what, table, condition) {
      await session.query(RAISE);
      await session.query(
        `CREATE TRIGGER refuse BEFORE ${what} ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`,
      );
      return async () => void (await session.query(`DROP TRIGGER refuse ON ${table}`));
    },
    hasBody: async (id) => (await session.query(HAS_BODY, [id])).length > 0,
    async countRows(id) {
      const [row] = await session.query<{ count: number }>(COUNT_ROWS, [id]);
      return row?.count ?? 0;
    },
  };
}

/** A database that has been migrated, and a driver on it. */
export async function withDriver(run: (driver: Driver, url: string) => Promise<void>): Promise<void> {
  const { url, drop } = await (await postgresServer(prepare)).createDatabase();
  const driver = openDriver({ url, connections: 2 });
  try {
    await run(driver, url);
  } finally {
    await driver.close();
    await drop();
  }
}
