/** Processes of this version and of the next on one PostgreSQL, one after the other replaced while messages come in. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { fileURLToPath } from "node:url";
import { Client } from "pg";
import { reached, send } from "../admin.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import {
  makeDataFolder,
  type PostriderProcess,
  type StartOptions,
  startPostrider,
} from "../postrider-process.ts";
import { until } from "../until.ts";

const NEXT = fileURLToPath(new URL("../fakes/next-version.ts", import.meta.url));
const PATH = "/v1/sms/messages";

let folder: ReturnType<typeof makeDataFolder>;
let database: TestDatabase;
let client: Client;
let running: Set<PostriderProcess>;

beforeEach(async () => {
  folder = makeDataFolder();
  database = await freshDatabase();
  client = new Client({ connectionString: database.url });
  await client.connect();
  running = new Set();
});

afterEach(async () => {
  for (const service of running) service.kill("SIGKILL");
  await Promise.all([...running].map((service) => service.exited));
  await client.end();
  folder.remove();
  await database.drop();
});

async function start(options: StartOptions = {}): Promise<PostriderProcess> {
  const service = await startPostrider({ dataFolder: folder.path, databaseUrl: database.url, ...options });
  running.add(service);
  return service;
}

async function stop(service: PostriderProcess): Promise<void> {
  service.kill("SIGTERM");
  expect(await service.exited).toBe(0);
  running.delete(service);
}

/** Sends through each of its targets, one message after the other, until it is over. */
function createLoad() {
  const accepted: string[] = [];
  const others: unknown[] = [];
  const loops = new Map<PostriderProcess, { isOver: boolean; ended: Promise<void> }>();
  let look = () => {};
  const run = async (service: PostriderProcess, loop: { isOver: boolean }) => {
    while (!loop.isOver) {
      const body = { to: "+919812345678", dlt_template_id: "1107160000000000001" };
      const request = { apiKey: service.sandbox.api_key, path: PATH, body };
      const answer = await send(service, request).catch((error: unknown) => {
        loop.isOver = true;
        return { status: 0, body: { message_id: undefined, error } };
      });
      if (answer.status === 202) accepted.push(String(answer.body.message_id));
      else others.push(answer);
      look();
    }
  };
  return {
    accepted,
    others,
    through(service: PostriderProcess) {
      const loop = { isOver: false, ended: Promise.resolve() };
      loop.ended = run(service, loop);
      loops.set(service, loop);
    },
    async leave(service: PostriderProcess) {
      const loop = loops.get(service);
      if (loop) loop.isOver = true;
      await loop?.ended;
    },
    /** Resolves when so many more were accepted, or one was not. */
    more(count: number) {
      const goal = accepted.length + count;
      return new Promise<void>((resolve) => {
        look = () => (accepted.length >= goal || others.length > 0) && resolve();
      });
    },
  };
}

async function count(sql: string): Promise<number> {
  const { rows } = await client.query<{ count: string }>(`SELECT count(*) AS count ${sql}`);
  return Number(rows[0]?.count);
}

const WITH_REGION = "FROM information_schema.columns WHERE column_name = 'region' AND table_name";

/** The last for which there are tables. */
async function lastDay(): Promise<string> {
  const days = "SELECT max(right(relname, 8)) AS day FROM pg_class WHERE relname ~ '^messages_[0-9]{8}$'";
  return (await client.query<{ day: string }>(days)).rows[0]!.day;
}

test("while the next version migrates and takes over, this one works on, may start again, and nothing is lost or sent twice", async () => {
  const first = await start();
  const { sandbox } = first;
  const second = await start({ sandbox });
  const load = createLoad();
  for (const service of [first, second]) load.through(service);
  await load.more(40);

  const next = await start({ sandbox, main: NEXT });
  expect(next.output()).toContain('"migration":"0900_region","step":1,"of":1');
  expect(await count(`${WITH_REGION} IN ('messages', 'jobs', 'events')`)).toBe(3);
  const migrated = load.accepted.length;
  await load.more(40);
  load.through(next);

  await load.leave(first);
  await stop(first);
  const day = await lastDay();
  // One by one: whoever waits for one of them while it has another stands in the way of the load, and that in its.
  for (const table of ["messages", "contents", "timeline", "events"]) {
    await client.query(`DROP TABLE ${table}_${day}`);
  }
  const again = await start({ sandbox });
  load.through(again);
  await until(() => load.more(1).then(() => count(`${WITH_REGION} = 'events_${day}'`)));
  expect(await count(`${WITH_REGION} = 'messages_${day}' AND column_default LIKE '''everywhere''%'`)).toBe(1);
  await load.more(40);

  for (const service of [second, again]) {
    await load.leave(service);
    await stop(service);
  }
  await load.leave(next);
  expect(load.others).toEqual([]);
  expect(load.accepted.length).toBeGreaterThan(migrated + 80);
  for (const id of load.accepted) {
    await reached(next, { apiKey: sandbox.api_key, path: `${PATH}/${id}` }, "delivered");
  }
  expect(await count("FROM messages WHERE region = 'everywhere'")).toBe(load.accepted.length);
  expect(await count("FROM sandbox_messages")).toBe(load.accepted.length);
}, 180_000);
