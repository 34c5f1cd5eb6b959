import { Client } from "pg";

/** Empties a PostgreSQL database of all that is in it. */
export const BARE = "DROP SCHEMA public CASCADE; CREATE SCHEMA public;";

/** Runs SQL on a PostgreSQL database as it is now, and names the tables that are there then. */
export async function tablesAfter(url: string, sql: string): Promise<readonly string[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(sql);
  const { rows } = await client.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
  await client.end();
  return rows.map(({ tablename }) => tablename);
}
