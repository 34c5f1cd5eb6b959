/** Says what a PostgreSQL of the tests is doing, should a statement that makes or drops a database stand still. */
import { Client } from "pg";

/** Ten times what such a statement takes on a busy machine. */
const LONG_MS = 20_000;

const CONNECT_MS = 5_000;

/** Every process of the server, the one that asks excepted, and what it waits for. */
const ACTIVITY = `SELECT backend_type, pid, datname, state, wait_event_type, wait_event,
    (clock_timestamp() - coalesce(query_start, backend_start))::text AS since, left(query, 100) AS query
  FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY backend_type, pid`;

interface Watched {
  readonly url: string;
  readonly sql: string;
  /** What the server last said. */
  readonly log: () => string;
}

interface Reporting {
  readonly longMs: number;
  readonly say: (text: string) => void;
}

const ON_STANDARD_ERROR: Reporting = { longMs: LONG_MS, say: (text) => console.error(text) };

/** Passes the result on. Where it takes long, it says why, so that whoever reads the failed test knows. */
export async function reportStuck<Result>(
  { url, sql, log }: Watched,
  statement: Promise<Result>,
  { longMs, say }: Reporting = ON_STANDARD_ERROR,
): Promise<Result> {
  const tell = async () => say(`${sql}\nhas taken ${longMs} ms\n${await activity(url)}\n${log()}`);
  const timer = setTimeout(() => void tell(), longMs);
  timer.unref();
  try {
    return await statement;
  } finally {
    clearTimeout(timer);
  }
}

async function activity(url: string): Promise<string> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: CONNECT_MS });
  try {
    await client.connect();
    const { rows } = await client.query<Record<string, unknown>>(ACTIVITY);
    await client.end();
    return rows.map((row) => JSON.stringify(row)).join("\n");
  } catch (error) {
    return `its sessions are not to be had: ${String(error)}`;
  }
}
