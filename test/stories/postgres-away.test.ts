/** PostgreSQL answers nothing, or is gone for a while: clients are told to come back, and nothing piles up. */
import { expect, test } from "bun:test";
import { Client } from "pg";
import { reached, send } from "../admin.ts";
import { startFakeDns } from "../fakes/fake-dns.ts";
import { BEHAVIOURS, startFakeWebhookReceiver } from "../fakes/fake-webhook-receiver.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { openPostgresProxy } from "../fakes/postgres-proxy.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";
import { allowHooks, sendSms } from "../webhook-rig.ts";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

type World = Awaited<ReturnType<typeof openWorld>>;

/** A service that reaches its database by a way of the test's. */
async function openWorld(env: Readonly<Record<string, string>> = {}) {
  const folder = makeDataFolder();
  const database = await freshDatabase();
  const port = await keptPort();
  const openWay = () => openPostgresProxy(database.url, port);
  const way = await openWay();
  const service = await startPostrider({ dataFolder: folder.path, databaseUrl: way.url, env });
  const world = {
    service,
    way,
    async openWayAgain() {
      world.way = await openWay();
    },
    async [Symbol.asyncDispose]() {
      service.kill("SIGKILL");
      await service.exited;
      await world.way.close();
      await database.drop();
      folder.remove();
    },
  };
  return world;
}

function post({ service }: World): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.sandbox.api_key}`, "Content-Type": "application/json" };
  return fetch(service.url + PATH, { method: "POST", headers, body: JSON.stringify(SMS) });
}

async function delivers({ service }: World): Promise<void> {
  const { api_key: apiKey } = service.sandbox;
  const answer = await until(
    () => send(service, { apiKey, path: PATH, body: SMS }),
    ({ status }) => status !== 503,
  );
  expect(answer.status).toBe(202);
  await reached(service, { apiKey, path: `${PATH}/${answer.body.message_id}` }, "delivered");
}

test.concurrent("while the database says nothing requests are answered 503 with Retry-After, and afterwards they are accepted", async () => {
  await using world = await openWorld();
  await delivers(world);
  world.way.silence();
  const answers = await Promise.all(Array.from({ length: 100 }, () => post(world)));
  for (const answer of answers) {
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
  }
  expect((await fetch(`${world.service.url}/healthz`)).status).toBe(200);
  world.way.speak();
  await delivers(world);
}, 120_000);

test.concurrent("a database that is cut off and comes back is used again without a restart", async () => {
  await using world = await openWorld();
  await delivers(world);
  for (let time = 0; time < 3; time++) {
    await world.way.close();
    const answer = await post(world);
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
    await world.openWayAgain();
    await delivers(world);
  }
  const told = await world.service.line(/"msg":"database unavailable"/);
  expect(told).toMatch(/the database (cannot be reached|did not commit): \w/);
  world.service.kill("SIGTERM");
  expect(await world.service.exited).toBe(0);
}, 120_000);

test.concurrent("a server that takes nobody any more is away: 503 and not ready, and afterwards all goes on", async () => {
  await using world = await openWorld();
  await delivers(world);
  const url = new URL(world.way.url);
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await client.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
  const answer = await post(world);
  expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
  expect((await fetch(`${world.service.url}/readyz`)).status).toBe(503);
  const metrics = await fetch(`${world.service.url}/metrics`);
  expect([metrics.status, await metrics.text()]).toEqual([
    200,
    expect.stringMatching(/^postrider_database_up 0$/m),
  ]);
  await client.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await client.end();
  await delivers(world);
});

test.concurrent("a webhook that was taken while the database was away is not delivered again, and the next one follows at once", async () => {
  await using world = await openWorld({ LOG_LEVEL: "debug" });
  const [dns, receiver] = await Promise.all([startFakeDns(), startFakeWebhookReceiver()]);
  dns.a.set("*", ["127.0.0.1"]);
  await allowHooks(world.service, dns.address);
  const taken = Promise.withResolvers<void>();
  receiver.behave({ kind: "later", when: taken.promise });
  await sendSms(world.service, { callback_url: receiver.url() });
  await receiver.arrived(1);
  await world.way.close();
  receiver.behave(BEHAVIOURS.ok);
  taken.resolve();
  await world.service.line(/a webhook's (result waits|delivery could not be recorded)/);
  await world.openWayAgain();
  const backMs = performance.now();
  await receiver.arrived(2);
  // The lease, after which an event would be delivered again, lasts for a minute.
  expect(performance.now() - backMs).toBeLessThan(30_000);
  expect(receiver.deliveries.map(({ body }) => JSON.parse(body).data.sequence)).toEqual([1, 2]);
  await receiver.close();
  dns.close();
}, 120_000);

test.concurrent("a stop beside a database that says nothing ends within 20 s, or says then what is left and what becomes of it", async () => {
  await using world = await openWorld();
  await delivers(world);
  world.way.silence();
  world.service.kill("SIGTERM");
  const code = await world.service.exited;
  const last = world.service.output().trimEnd().split("\n").at(-1);
  expect(last).toMatch(
    code === 0
      ? /"msg":"stopped"/
      : /^postrider: not stopped within 20 s; unfinished: \w.*\. Nothing that was accepted is lost/,
  );
}, 120_000);
