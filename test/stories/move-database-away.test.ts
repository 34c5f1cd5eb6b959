/** The PostgreSQL that a service moves to goes away in the middle of the move. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { holdChange } from "../fakes/held-table.ts";
import { freshDatabase } from "../postgres-database.ts";
import {
  makeDataFolder,
  onPostgres,
  runPostrider,
  startCommand,
  startPostrider,
} from "../postrider-process.ts";

/** Ends the connections that wait for a lock. */
const END_WAITING =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";

test("a move whose database goes away says that it goes on where it was", async () => {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const { DATABASE_URL: _, ...env } = onPostgres(database.url);
  const service = await startPostrider({ dataFolder: folder.path, env });
  service.kill("SIGTERM");
  await service.exited;
  const command = { dataFolder: folder.path, command: "migrate-to", env, args: [database.url] };
  const held = await holdChange(database.url, "BEFORE INSERT ON api_keys FOR EACH STATEMENT");
  const move = startCommand(command);
  await held.waitedFor();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  await client.query(END_WAITING);
  await client.end();
  expect(await move.exited).toBe(1);
  await held.letGo();
  expect(move.output()).toMatch(
    /error: the database cannot be reached: [^\n]*; no service starts on the copy until /,
  );
  expect((await runPostrider(command)).code).toBe(0);
  folder.remove();
  await database.drop();
});
