/**
 * Of two processes on one PostgreSQL one stands still while the SMSC answers it. The other declares it dead and takes its message
 * over. What the SMSC has answered counts all the same, once the first one goes on and reads it.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { reached } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

test("a message that is held, since nobody knew that the SMSC had taken it, is sent once its answer is read", async () => {
  await using world = new AsyncDisposableStack();
  const folder = makeDataFolder();
  world.defer(folder.remove);
  const database = await freshDatabase();
  world.defer(database.drop);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  world.defer(() => client.end());
  const smsc = await startFakeSmsc({ receipts: "none", holdSubmits: true });
  world.defer(smsc.close);
  const start = async (options = {}) => {
    const service = await startPostrider({
      dataFolder: folder.path,
      databaseUrl: database.url,
      ...options,
    });
    world.defer(async () => {
      service.kill("SIGKILL");
      await service.exited;
    });
    return service;
  };

  const one = await start();
  const live = await openLiveSms(one, {
    connectors: [await connectSmsc(one, smsc)],
    settings: { on_unconfirmed: "hold" },
  });
  await smsc.until(() => smsc.bound().length === 1);
  const message = await live.send("+447700900001");
  await smsc.until(() => smsc.submits.length === 1);
  one.kill("SIGSTOP");
  const two = await start({ sandbox: one.sandbox });
  await until(
    () => client.query(HELD),
    ({ rowCount }) => rowCount === 1,
  );
  expect(await reached(two, message, "sending")).toMatchObject({ status: "sending" });

  smsc.release();
  one.kill("SIGCONT");
  expect(await reached(two, message, "sent", "failed")).toMatchObject({ status: "sent" });
  expect((await client.query("SELECT 1 FROM jobs")).rowCount).toBe(0);
  expect(smsc.submits.length).toBe(1);
}, 180_000);

/** The job that the other process has claimed and put aside, until the end of its window. */
const HELD = "SELECT 1 FROM jobs WHERE claim > 1 AND NOT is_leased AND due_at IS NOT NULL";
