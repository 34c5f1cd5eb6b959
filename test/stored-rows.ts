/** Reads and changes a service's tables directly. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Client } from "pg";
import { databaseOf } from "./both-stores.ts";

/** The rows of a query in a data folder's store. The SQL must work on both stores. */
export async function storedRows<Row extends object>(
  dataFolder: string,
  sql: string,
): Promise<readonly Row[]> {
  const url = await databaseOf(dataFolder);
  return url === undefined ? inFile<Row>(join(dataFolder, "postrider.db"), sql) : onServer<Row>(url, sql);
}

export function inFile<Row>(path: string, sql: string): readonly Row[] {
  const database = new Database(path, { readonly: true });
  try {
    return database.query(sql).all() as Row[];
  } finally {
    database.close();
  }
}

export async function onServer<Row extends object>(url: string, sql: string): Promise<readonly Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/**
 * Makes a store that a service is using refuse every change of a table, if no other is named of messages, for which the condition holds, as it does where a row is damaged.
 * Resolves with a function that ends that. The condition is about `NEW`, and must work on both stores.
 */
export async function refuseChanges(
  dataFolder: string,
  condition: string,
  table = "messages",
): Promise<() => Promise<void>> {
  const url = await databaseOf(dataFolder);
  if (url !== undefined) {
    await onServer(url, raiseSql(condition, table));
    return async () => void (await onServer(url, "DROP FUNCTION refuse CASCADE"));
  }
  const refused = `CREATE TRIGGER refuse BEFORE UPDATE ON ${table} WHEN ${condition} BEGIN SELECT RAISE(ABORT, 'damaged'); END`;
  await changeRows(dataFolder, refused);
  return () => changeRows(dataFolder, "DROP TRIGGER refuse");
}

/** With the code of a page whose checksum is wrong. */
const raiseSql = (
  condition: string,
  table: string,
) => `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE EXCEPTION 'damaged' USING ERRCODE = 'XX001'; END $$;
  CREATE TRIGGER refuse BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`;

/** Runs a statement in a data folder's store. The SQL must work on both stores. */
export async function changeRows(dataFolder: string, sql: string): Promise<void> {
  const url = await databaseOf(dataFolder);
  if (url !== undefined) return void (await onServer(url, sql));
  const database = new Database(join(dataFolder, "postrider.db"));
  try {
    database.exec("PRAGMA busy_timeout = 5000");
    database.exec(sql);
  } finally {
    database.close();
  }
}
