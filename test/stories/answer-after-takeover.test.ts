/**
 * Of two processes on one PostgreSQL one stands still while the SMSC answers it. The other declares it dead and takes its message
 * over. What the SMSC has answered counts all the same, once the first one goes on and reads it. Each test waits until the process is
 * declared dead, so they run side by side.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { reached } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { SmscDial } from "../fakes/smsc-dial.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/**
 * The one account holds what is in doubt. Its message was sent by a process that stood still until another one had taken it over and
 * put it aside; now the SMSC answers, and the first process reads it.
 */
async function answerAfterTakeover(world: AsyncDisposableStack, dial: SmscDial) {
  const folder = makeDataFolder();
  world.defer(folder.remove);
  const database = await freshDatabase();
  world.defer(database.drop);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  world.defer(() => client.end());
  const smsc = await startFakeSmsc({ receipts: "none", holdSubmits: true, ...dial });
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
  const { status } = await reached(two, message, "sent", "failed");
  expect((await client.query("SELECT 1 FROM jobs")).rowCount).toBe(0);
  return { status, submits: smsc.submits.length };
}

test.concurrent.each([
  ["taken it", {}, { status: "sent", submits: 1 }],
  ["put it off", { throttle: 1 }, { status: "sent", submits: 2 }],
  ["refused it", { submitStatus: 0x0b }, { status: "failed", submits: 1 }],
] as const)(
  "a message that is held, since nobody knew that the SMSC had %s, ends by that answer once it is read",
  async (_, dial, expected) => {
    await using world = new AsyncDisposableStack();
    expect(await answerAfterTakeover(world, dial)).toEqual(expected);
  },
  180_000,
);

/** The job that the other process has claimed and put aside, until the end of its window. */
const HELD = "SELECT 1 FROM jobs WHERE claim > 1 AND NOT is_leased AND due_at IS NOT NULL";
