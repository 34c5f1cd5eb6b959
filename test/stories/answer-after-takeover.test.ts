/**
 * Of two processes on one PostgreSQL one stands still while its provider answers it. The other declares it dead and takes its message
 * over. What was answered counts all the same, once the first one goes on and reads it. Each test waits until the process is
 * declared dead, so they run side by side.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { present } from "../../src/core/present.ts";
import { admin, reached } from "../admin.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import type { SmscDial } from "../fakes/smsc-dial.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/** A database, and processes on it that go with the test. */
async function openWorld(world: AsyncDisposableStack) {
  const folder = makeDataFolder();
  world.defer(folder.remove);
  const database = await freshDatabase();
  world.defer(database.drop);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  world.defer(() => client.end());
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
  return { client, start };
}

interface Provider {
  readonly connectors: (service: PostriderProcess) => Promise<readonly string[]>;
  readonly body?: string;
  /** Resolves once it has the message. */
  readonly hasIt: () => Promise<void>;
  readonly answer: () => void;
}

/**
 * The one account holds what is in doubt. Its message was sent by a process that stood still until another one had taken it over and
 * put it aside; now the provider answers, and the first process reads it. Resolves with what the message is then.
 */
async function statusAfterTakeover(world: AsyncDisposableStack, provider: Provider): Promise<unknown> {
  const { client, start } = await openWorld(world);
  const one = await start();
  const live = await openLiveSms(one, {
    connectors: await provider.connectors(one),
    settings: { on_unconfirmed: "hold" },
    ...present({ body: provider.body }),
  });
  const message = await live.send("+447700900001");
  await provider.hasIt();
  one.kill("SIGSTOP");
  const two = await start({ sandbox: one.sandbox });
  await until(
    () => client.query(HELD),
    ({ rowCount }) => rowCount === 1,
  );
  expect(await reached(two, message, "sending")).toMatchObject({ status: "sending" });

  provider.answer();
  one.kill("SIGCONT");
  const { status } = await reached(two, message, "sent", "failed");
  expect((await client.query("SELECT 1 FROM jobs")).rowCount).toBe(0);
  return status;
}

async function answerAfterTakeover(world: AsyncDisposableStack, dial: SmscDial) {
  const smsc = await startFakeSmsc({ receipts: "none", holdSubmits: true, ...dial });
  world.defer(smsc.close);
  const status = await statusAfterTakeover(world, {
    async connectors(service) {
      const connectors = [await connectSmsc(service, smsc)];
      await smsc.until(() => smsc.bound().length === 1);
      return connectors;
    },
    hasIt: () => smsc.until(() => smsc.submits.length === 1),
    answer: smsc.release,
  });
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

test.concurrent("so does one that a gateway has taken in one piece, and that an SMSC of its route would have been sent in two", async () => {
  await using world = new AsyncDisposableStack();
  const [smsc, gateway] = await Promise.all([startFakeSmsc(), startFakeGateway("silent")]);
  world.defer(smsc.close);
  world.defer(gateway.close);
  const status = await statusAfterTakeover(world, {
    connectors: async (service) => [await connectGateway(service, gateway), await connectSmsc(service, smsc)],
    body: "Your table is ready. ".repeat(9),
    hasIt: () => gateway.whenRequests(1),
    answer: () => gateway.release({ status: 200, body: { id: "taken" } }),
  });
  expect([status, gateway.requests.length, smsc.submits.length]).toEqual(["sent", 1, 0]);
}, 180_000);

async function connectGateway(service: PostriderProcess, { url }: FakeGateway): Promise<string> {
  const gateway = { send: { url, json: { to: "{{to}}" } }, answer: { id: { json: "/id" } } };
  const made = { kind: "http", name: "gateway", config: { provider: "custom", gateway } };
  return (await admin<{ connector_id: string }>(service, "/connectors", made)).connector_id;
}

/** The job that the other process has claimed and put aside, until the end of its window. */
const HELD = "SELECT 1 FROM jobs WHERE claim > 1 AND NOT is_leased AND due_at IS NOT NULL";
