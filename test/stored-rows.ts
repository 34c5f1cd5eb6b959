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

/** Runs a statement in a data folder's store, which no service is using. The SQL must work on both stores. */
export async function changeRows(dataFolder: string, sql: string): Promise<void> {
  const url = await databaseOf(dataFolder);
  if (url !== undefined) return void (await onServer(url, sql));
  const database = new Database(join(dataFolder, "postrider.db"));
  try {
    database.exec(sql);
  } finally {
    database.close();
  }
}
