/** Ways for tests to open a store on PostgreSQL, each on a database of its own, and to look behind it. */
import { randomBytes } from "node:crypto";
import { postgresServer } from "../../../test/postgres-server.ts";
import type { Store } from "../store.ts";
import { createVault } from "../vault.ts";
import { type Driver, openDriver } from "./driver.ts";
import { migrate } from "./migrate.ts";
import { openPostgres, type PostgresOptions } from "./open-postgres.ts";

export const VAULT = createVault({ masterKey: "a master key of some length", randomBytes });

async function prepare(url: string): Promise<void> {
  const driver = openDriver({ url });
  await migrate(driver);
  await driver.close();
}

/** Opens a store on an empty database; the database goes when the store is closed. */
export async function openFresh(options: Partial<PostgresOptions> = {}) {
  const server = await postgresServer(prepare);
  const { url, drop } = await server.createDatabase();
  const partial = await openPostgres({ url, vault: VAULT, ...options });
  // Sections that ask for what is not built yet are not run.
  const store = partial as unknown as Store;
  const close = async () => {
    await partial.close();
    await drop().catch(() => undefined);
  };
  return {
    url,
    store: { ...store, close },
    inside: { hasBody: missing("inside"), countRows: missing("inside") },
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

function missing(name: string): () => never {
  return () => {
    throw new Error(`${name} is not there on PostgreSQL`);
  };
}
