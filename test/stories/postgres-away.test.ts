/** PostgreSQL answers nothing, or is gone for a while: clients are told to come back, and nothing piles up. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { reached, send } from "../admin.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { openPostgresProxy, type PostgresProxy } from "../fakes/postgres-proxy.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const PATH = "/v1/sms/messages";
const SMS = { to: "+919812345678", dlt_template_id: "1107160000000000001" };

let folder: ReturnType<typeof makeDataFolder>;
let database: TestDatabase;
let port: number;
let way: PostgresProxy;
let service: PostriderProcess;

beforeEach(async () => {
  folder = makeDataFolder();
  database = await freshDatabase();
  port = await keptPort();
  way = await openPostgresProxy(database.url, port);
  service = await startPostrider({ dataFolder: folder.path, databaseUrl: way.url });
});

afterEach(async () => {
  service.kill("SIGKILL");
  await service.exited;
  await way.close();
  await database.drop();
  folder.remove();
});

function post(): Promise<Response> {
  const headers = { Authorization: `Bearer ${service.sandbox.api_key}`, "Content-Type": "application/json" };
  return fetch(service.url + PATH, { method: "POST", headers, body: JSON.stringify(SMS) });
}

async function delivers(): Promise<void> {
  const { api_key: apiKey } = service.sandbox;
  let answer = await send(service, { apiKey, path: PATH, body: SMS });
  while (answer.status === 503) answer = await send(service, { apiKey, path: PATH, body: SMS });
  expect(answer.status).toBe(202);
  await reached(service, { apiKey, path: `${PATH}/${answer.body.message_id}` }, "delivered");
}

test("while the database says nothing requests are answered 503 with Retry-After, and afterwards they are accepted", async () => {
  await delivers();
  way.silence();
  const answers = await Promise.all(Array.from({ length: 100 }, post));
  for (const answer of answers) {
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
  }
  expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
  way.speak();
  await delivers();
}, 120_000);

test("a database that is cut off and comes back is used again without a restart", async () => {
  await delivers();
  for (let time = 0; time < 3; time++) {
    await way.close();
    const answer = await post();
    expect([answer.status, Number(answer.headers.get("retry-after")) > 0]).toEqual([503, true]);
    way = await openPostgresProxy(database.url, port);
    await delivers();
  }
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
}, 120_000);
