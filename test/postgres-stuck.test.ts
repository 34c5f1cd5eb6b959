import { expect, test } from "bun:test";
import { Client } from "pg";
import { freshDatabase } from "./postgres-database.ts";
import { reportStuck } from "./postgres-stuck.ts";
import { until } from "./until.ts";

test("a statement that stands still is reported with what each process of the server waits for", async () => {
  const { url, drop } = await freshDatabase();
  const [holder, waiter] = [new Client({ connectionString: url }), new Client({ connectionString: url })];
  await Promise.all([holder.connect(), waiter.connect()]);
  await holder.query("SELECT pg_advisory_lock(1)");
  const sql = "SELECT pg_advisory_lock(1)";
  const said = Promise.withResolvers<string>();
  const watched = { url, sql, log: () => "the end of the log" };
  const waiting = waiter.query(sql);
  const waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
  await until(async () => (await holder.query(waits)).rowCount);
  const answer = reportStuck(watched, waiting, { longMs: 50, say: said.resolve });
  const report = await said.promise;
  expect(report).toStartWith(`${sql}\nhas taken 50 ms\n`);
  expect(report).toContain('"wait_event":"advisory"');
  expect(report).toEndWith("the end of the log");
  await holder.query("SELECT pg_advisory_unlock(1)");
  expect((await answer).rowCount).toBe(1);
  await Promise.all([holder.end(), waiter.end()]);
  await drop();
});
