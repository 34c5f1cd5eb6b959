/** A start that fails when some parts run already, on PostgreSQL, where other processes count on what a process holds. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, runPostrider, startPostrider } from "../postrider-process.ts";

test("it gives up what it has taken at once, so that no other process waits until it counts as dead", async () => {
  const folder = makeDataFolder();
  const { url: databaseUrl, drop } = await freshDatabase();
  const first = await startPostrider({ dataFolder: folder.path, databaseUrl });
  first.kill("SIGTERM");
  expect(await first.exited).toBe(0);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  // Reading them is what a start ends with.
  await client.query("ALTER TABLE connectors RENAME TO connectors_away");

  const { code, output } = await runPostrider({ dataFolder: folder.path, databaseUrl });
  expect([code, output]).toEqual([1, expect.stringContaining("postrider cannot start: ")]);
  expect((await client.query("SELECT id FROM lease_processes")).rows).toEqual([]);

  await client.end();
  await drop();
  folder.remove();
});
