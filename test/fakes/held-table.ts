/** A table of a PostgreSQL that nobody can write to for a while: what is cut off there has not come to its end. */
import { Client } from "pg";

/** Nobody else's. */
const LOCK = 20_261_121;

/** Whoever inserts rows into the table waits from now on, until the returned function is called. */
export async function holdTable(url: string, table: string): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${LOCK})`);
  await client.query(`CREATE FUNCTION wait_in_line() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NULL; END'`);
  await client.query(
    `CREATE TRIGGER held BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION wait_in_line()`,
  );
  return async () => {
    await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
    await client.query("DROP FUNCTION wait_in_line() CASCADE");
    await client.end();
  };
}
