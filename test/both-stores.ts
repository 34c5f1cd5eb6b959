/** Stories that hold whatever the service stores in. */
import { afterAll, beforeAll, describe } from "bun:test";
import { emptyDatabase } from "./postgres-database.ts";
import type { TestDatabase } from "./postgres-server.ts";

let isOnPostgres = false;

/** By data folder: a service that starts again finds what it had. */
const databases = new Map<string, Promise<TestDatabase>>();

/**
 * Runs the tests of `define` on SQLite and on PostgreSQL: services that they start store there. `atOnce`: all run side by
 * side, on both stores, and each has a world of its own, whose data folder was made for the store.
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

/** The database that goes with a data folder; `undefined` on SQLite. */
export async function databaseOf(dataFolder: string): Promise<string | undefined> {
  if (!isOnPostgres && !databases.has(dataFolder)) return undefined;
  const database = databases.get(dataFolder) ?? emptyDatabase();
  databases.set(dataFolder, database);
  return (await database).url;
}

/** Services on this data folder store on PostgreSQL, wherever other tests are told. */
export function placeOnPostgres(dataFolder: string): void {
  databases.set(dataFolder, emptyDatabase());
}

/** To be called when the folder is removed, and nobody uses the database any more. */
export function forgetDatabase(dataFolder: string): void {
  void databases.get(dataFolder)?.then(({ drop }) => drop());
  databases.delete(dataFolder);
}
