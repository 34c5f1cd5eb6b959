/** Runs stories on SQLite and on PostgreSQL. */
import { afterAll, beforeAll, describe } from "bun:test";
import { type ConnectedDatabase, connectedDatabase, emptyDatabase } from "./postgres-database.ts";
import type { TestDatabase } from "./postgres-server.ts";

let isOnPostgres = false;

/** By data folder, so that a service that starts again finds its data. */
const databases = new Map<string, Promise<TestDatabase>>();

/** As `databaseOf`, of a new data folder, with connections for a service of this process. */
export async function connectedDatabaseOf(dataFolder: string): Promise<ConnectedDatabase | undefined> {
  if (!isOnPostgres) return undefined;
  const database = connectedDatabase();
  databases.set(dataFolder, database);
  return database;
}

/**
 * Runs the tests of `define` on both stores: services that they start use the store. `atOnce`: all run at the same time, on
 * both stores, and each has a service of its own, whose data folder was made for the store.
 */
export function onBothStores(
  define: (store: "sqlite" | "postgres") => void,
  { atOnce = false }: { atOnce?: boolean } = {},
): void {
  if (atOnce) {
    for (const store of ["sqlite", "postgres"] as const) describe.concurrent(store, () => define(store));
    return;
  }
  describe("sqlite", () => define("sqlite"));
  describe("postgres", () => {
    beforeAll(() => {
      isOnPostgres = true;
    });
    define("postgres");
    afterAll(() => {
      isOnPostgres = false;
    });
  });
}

/** The database of a data folder; `undefined` on SQLite. */
export async function databaseOf(dataFolder: string): Promise<string | undefined> {
  if (!isOnPostgres && !databases.has(dataFolder)) return undefined;
  const database = databases.get(dataFolder) ?? emptyDatabase();
  databases.set(dataFolder, database);
  return (await database).url;
}

/** Lets services on this data folder use PostgreSQL, whatever the current store. */
export function placeOnPostgres(dataFolder: string): void {
  databases.set(dataFolder, emptyDatabase());
}

/** To be called when the folder is removed and nobody uses the database any more. */
export function forgetDatabase(dataFolder: string): void {
  void databases.get(dataFolder)?.then(({ drop }) => drop());
  databases.delete(dataFolder);
}
