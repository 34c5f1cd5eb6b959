/** Blocks writes to a PostgreSQL table, so that a connection can be cut while a statement waits. */
import { Client } from "pg";
import { until } from "../until.ts";

/** A lock number that nothing else uses. */
const LOCK = 20_261_121;

export interface HeldTable {
  /** Resolves when a statement waits. */
  waitedFor(): Promise<void>;
  /** Ends the connections that wait, and lets writes through again. */
  letGo(): Promise<void>;
}

/** @param change what waits from now on, as a trigger names it: `BEFORE INSERT ON jobs FOR EACH STATEMENT` */
export async function holdChange(url: string, change: string): Promise<HeldTable> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(${LOCK})`);
  await client.query(`CREATE FUNCTION wait_in_line() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(${LOCK}); RETURN NULL; END'`);
  await client.query(`CREATE TRIGGER held ${change} EXECUTE FUNCTION wait_in_line()`);
  const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${LOCK} AND NOT granted
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  return {
    async waitedFor() {
      await until(async () => (await client.query(waiting)).rowCount);
    },
    async letGo() {
      // Its client may be gone, which a server that waits does not see.
      await client.query(`SELECT pg_terminate_backend(pid, 10000) FROM (${waiting}) AS cut_off`);
      await client.query(`SELECT pg_advisory_unlock(${LOCK})`);
      await client.query("DROP FUNCTION wait_in_line() CASCADE");
      await client.end();
    },
  };
}
