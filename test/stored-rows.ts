/** Reads a service's tables directly. */
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
