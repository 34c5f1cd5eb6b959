/** A start that fails when some parts run already, on PostgreSQL, where other processes count on what a process holds. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { oneProcessOnPostgres } from "../one-process.ts";
import { runPostrider } from "../postrider-process.ts";

const { folder, database, start, stop } = oneProcessOnPostgres();

test("a start that fails late gives up what it has taken at once, so that no other process waits until it counts as dead", async () => {
  const { url: databaseUrl } = database();
  await start();
  await stop();
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  // Reading them is what a start ends with.
  await client.query("ALTER TABLE connectors RENAME TO connectors_away");

  const { code, output } = await runPostrider({ dataFolder: folder(), databaseUrl });
  expect([code, output]).toEqual([1, expect.stringContaining("postrider cannot start: ")]);
  expect((await client.query("SELECT id FROM lease_processes")).rows).toEqual([]);

  await client.end();
});
