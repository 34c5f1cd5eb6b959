import { expect, test } from "bun:test";
import { Client } from "pg";
import { createWorld } from "../contract/world.contract.ts";
import { dump } from "./dump.ts";
import { openFresh } from "./postgres-world.contract.ts";

test("a dump is of one moment, whatever is accepted while its tables are read", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  await world.sms();
  const read: string[] = [];
  const { rows } = await dump(url, {
    onKey: () => undefined,
    async table(name) {
      read.push(name);
      await world.sms();
    },
    rows: async () => undefined,
    tableDone: async () => undefined,
  });
  expect(read.length).toBeGreaterThan(10);
  expect(rows).toMatchObject({ messages: 1, contents: 1, jobs: 1 });
  expect(await world.claim(100)).toHaveLength(1 + read.length);
  await store.close();
});

/** Longer than a statement takes on a busy machine. */
const LIMIT_MS = 2_000;

test("a transaction_timeout that is set for the database does not end a dump", async () => {
  const { store, url } = await openFresh();
  const other = new Client({ connectionString: url });
  await other.connect();
  const { rowCount } = await other.query("SELECT FROM pg_settings WHERE name = 'transaction_timeout'");
  // PostgreSQL 15 and 16 have none.
  if (rowCount)
    await other.query(
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET transaction_timeout = ${LIMIT_MS}`,
    );
  const { rows } = await dump(url, {
    onKey: () => void other.query(`SELECT pg_sleep(${(1.5 * LIMIT_MS) / 1_000})`),
    // Once the sleep is over, on the same connection.
    table: async () => void (await other.query("SELECT 1")),
    rows: async () => undefined,
    tableDone: async () => undefined,
  });
  expect(rows).toMatchObject({ messages: 0 });
  await other.end();
  await store.close();
});
