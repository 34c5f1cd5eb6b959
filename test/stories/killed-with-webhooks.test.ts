/**
 * A process that delivers webhooks on PostgreSQL is killed during a delivery. It is repeated within seconds, with the same id, and
 * not only when its lease of 60 s runs out; counted in heartbeats of living processes, not by the clock.
 */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { DEAD_MS, HEARTBEAT_MS } from "../../src/delivery/shares/shares.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { connectSmsc } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, newestSecret, sendSms } from "../webhook-rig.ts";

/** A process known to be dead is declared dead after two heartbeats, plus those of the start; one that merely has none, after four more than this. */
const TURNS_OF_A_RESTART = DEAD_MS / HEARTBEAT_MS - 4;

/** A lease would last for about 60. */
const TURNS_UNTIL_AGAIN = 40;

interface Turned {
  readonly id: string;
  readonly turn: number;
}

/** A database, a receiver that does not answer, and services, each on a data folder of its own unless one is given. */
async function openWorld() {
  const [database, dns] = await Promise.all([freshDatabase(), startFakeDns()]);
  dns.a.set("*", ["127.0.0.1"]);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const folders: ReturnType<typeof makeDataFolder>[] = [];
  const services: PostriderProcess[] = [];
  const start = async (roles: string, folder?: string): Promise<PostriderProcess> => {
    const dataFolder = folder ?? folders[folders.push(makeDataFolder()) - 1]!.path;
    const first = services[0] && { sandbox: services[0].sandbox };
    const args = ["--roles", roles];
    const service = await startPostrider({ dataFolder, databaseUrl: database.url, args, ...first });
    services.push(service);
    return service;
  };
  const api = await start("api");
  await allowHooks(api, dns.address);
  const receiver = await startFakeWebhookReceiver({ secret: await newestSecret(api) });
  receiver.behave(BEHAVIOURS.silent);
  /** The oldest process first, each with the number of its last heartbeat; the numbers rise by one with every heartbeat of any process. */
  const board = async (): Promise<readonly Turned[]> => {
    const { rows } = await client.query<{ id: string; turn: string }>(
      "SELECT id, turn FROM lease_processes ORDER BY id",
    );
    return rows.map(({ id, turn }) => ({ id, turn: Number(turn) }));
  };
  return {
    api,
    start,
    receiver,
    client,
    board,
    send: () => sendSms(api, { callback_url: receiver.url() }),
    async newest(): Promise<number> {
      return Math.max(...(await board()).map(({ turn }) => turn));
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) service.kill("SIGKILL");
      await Promise.all(services.map((service) => service.exited));
      await Promise.all([receiver.close(), client.end()]);
      dns.close();
      await database.drop();
      for (const folder of folders) folder.remove();
    },
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** For a killed process that was the only one: its successor on the same folder declares it dead and repeats its delivery. */
async function expectGoesOn(world: World, { id, turn }: Turned): Promise<void> {
  const { board, receiver, newest } = world;
  const without = await until(
    board,
    (processes) => processes.length > 0 && processes.every((one) => one.id !== id),
  );
  expect((without[0]?.turn ?? 0) - turn).toBeLessThan(TURNS_OF_A_RESTART);
  await receiver.arrived(2);
  expect((await newest()) - turn).toBeLessThan(TURNS_UNTIL_AGAIN);
  const [lost, again] = receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
  expect(again).toBe(lost!);
}

test.concurrent("a webhook that a process with only the role webhooks was delivering when it was killed is repeated soon after its restart", async () => {
  await using world = await openWorld();
  const { start, receiver, send } = world;
  const [hooks, sender] = [await start("webhooks"), await start("delivery,upkeep")];
  await send();
  await receiver.arrived(1);
  sender.kill("SIGTERM");
  expect(await sender.exited).toBe(0);
  hooks.kill("SIGKILL");
  await hooks.exited;
  const left = await world.board();
  expect(left).toHaveLength(1);
  receiver.behave(BEHAVIOURS.ok);
  await start("webhooks", hooks.dataFolder);
  await expectGoesOn(world, left[0]!);
}, 180_000);

test.concurrent("a process has heartbeats until its last webhook is settled: killed while stopping, its webhook is repeated as soon", async () => {
  await using world = await openWorld();
  const { start, receiver, board, send } = world;
  const all = "delivery,webhooks,upkeep";
  const service = await start(all);
  await send();
  await receiver.arrived(1);
  service.kill("SIGTERM");
  await service.line(/"msg":"stopping"/);
  const [before] = await board();
  await until(board, ([now]) => now !== undefined && now.turn >= (before?.turn ?? 0) + 2);
  service.kill("SIGKILL");
  await service.exited;
  const [left] = await board();
  receiver.behave(BEHAVIOURS.ok);
  await start(all, service.dataFolder);
  await expectGoesOn(world, left!);
}, 180_000);

test.concurrent("another process repeats the webhook of a killed one, and processes that only deliver webhooks get no binds", async () => {
  await using world = await openWorld();
  const { api, start, receiver, client, board, newest, send } = world;
  await using smsc = disposable(await startFakeSmsc());
  const services = [await start("webhooks"), await start("delivery,upkeep"), await start("webhooks")];
  await connectSmsc(api, smsc, { binds: 2 });
  await smsc.until(() => smsc.bound().length === 2);
  const before = await board();
  expect(before).toHaveLength(3);
  await send();
  await receiver.arrived(1);
  const { rows } = await client.query<{ holder: string }>(
    "SELECT holder FROM webhooks WHERE state = 'leased'",
  );
  const at = before.findIndex(({ id }) => id === rows[0]?.holder);
  const dead = (await board())[at]!;
  services[at]!.kill("SIGKILL");
  receiver.behave(BEHAVIOURS.ok);
  await receiver.arrived(2);
  // Two living processes have heartbeats.
  expect((await newest()) - dead.turn).toBeLessThan(2 * TURNS_UNTIL_AGAIN);
  const [lost, again] = receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
  expect(again).toBe(lost!);
  const living = before.filter(({ id }) => id !== dead.id);
  expect((await board()).map(({ id }) => id)).toEqual(living.map(({ id }) => id));
  const held = await client.query("SELECT process FROM leases");
  expect(held.rows).toEqual(Array(2).fill({ process: before[1]!.id }));
}, 180_000);

test.concurrent("the binds of a stopping process go to another while it still waits for webhook receivers", async () => {
  await using world = await openWorld();
  const { api, start, receiver, client, board, send } = world;
  await using smsc = disposable(await startFakeSmsc());
  const service = await start("delivery,webhooks,upkeep");
  await start("delivery,upkeep");
  await connectSmsc(api, smsc, { binds: 2 });
  const [stopping, other] = await board();
  const bindsOf = async (one: Turned | undefined) =>
    (await client.query("SELECT FROM leases WHERE process = $1", [one?.id])).rowCount;
  await until(
    () => Promise.all([stopping, other].map(bindsOf)),
    (binds) => binds.join() === "1,1",
  );
  await send();
  await receiver.arrived(1);
  service.kill("SIGTERM");
  await until(
    () => bindsOf(other),
    (binds) => binds === 2,
  );
  expect((await board()).map(({ id }) => id)).toEqual([stopping!.id, other!.id]);
}, 180_000);

function disposable<T extends { close(): Promise<unknown> }>(fake: T) {
  return { ...fake, [Symbol.asyncDispose]: async () => void (await fake.close()) };
}
