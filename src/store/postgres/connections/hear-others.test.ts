import { expect, test } from "bun:test";
import { Client } from "pg";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { freshDatabase } from "../../../../test/postgres-database.ts";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, QUEUE } from "../../contract/world.contract.ts";
import { openOther } from "../postgres-world.contract.ts";
import { hearOthers } from "./hear-others.ts";
import { openMessenger } from "./messenger.ts";

const clock = createSystemClock();

async function listener(url: string): Promise<{ heard: string[]; client: Client }> {
  const client = new Client({ connectionString: url });
  const heard: string[] = [];
  client.on("notification", ({ payload }) => heard.push(payload ?? ""));
  await client.connect();
  await client.query("LISTEN postrider");
  return { heard, client };
}

/** Resolves once so many messengers listen, besides the one whose process `gone` was. */
async function untilListening(client: Client, count: number, gone = 0): Promise<number> {
  const sql = `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
    AND application_name = 'postrider messenger' AND query LIKE 'LISTEN%' AND state = 'idle' AND pid <> $1`;
  const look = async () => (await client.query<{ pid: number }>(sql, [gone])).rows;
  const [first] = await until(look, (rows) => rows.length === count);
  return first?.pid ?? 0;
}

test("a message accepted by one process wakes who waits for its queue in another, and nobody twice in this one", async () => {
  const { url, drop } = await freshDatabase();
  const { client, heard } = await listener(url);
  const open = async () => hearOthers(await openOther(url), { url, clock });
  const [one, other] = [await open(), await open()];
  await untilListening(client, 2);
  const notified: string[] = [];
  one.queue.onReady((queue) => notified.push(queue));
  const woken = new Promise<string>((resolve) => void other.queue.onReady(resolve));
  const world = await createWorld(one);
  await world.sms();
  expect(await woken).toBe(QUEUE);
  await until(() => heard.length);
  expect(heard).toEqual([JSON.stringify([`queue ${QUEUE}`])]);
  expect(notified).toEqual([QUEUE]);
  await one.close();
  await other.close();
  await client.end();
  await drop();
});

test("of many signals one notice is made in 50 ms", async () => {
  const { url, drop } = await freshDatabase();
  const { client, heard } = await listener(url);
  const held = createHeldClock();
  const messenger = openMessenger({ url, clock: held, hear: () => {} });
  await untilListening(client, 1);
  messenger.tell("queue first");
  // The notice may come before the answer to it, on which the messenger plans the next.
  const noticeNow = async () => {
    await held.advance(0);
    return heard.length;
  };
  await until(noticeNow, (count) => count === 1);
  for (let count = 0; count < 100; count++) messenger.tell(`queue ${count % 10}`);
  await held.advance(49);
  await client.query("SELECT 1");
  expect(heard).toHaveLength(1);
  await held.advance(1);
  await until(noticeNow, (count) => count === 2);
  expect(JSON.parse(heard[1] ?? "")).toHaveLength(10);
  await messenger.close();
  await client.end();
  await drop();
});

test("more than a notice holds goes out with the next ones", async () => {
  const { url, drop } = await freshDatabase();
  const { client, heard } = await listener(url);
  const messenger = openMessenger({ url, clock, hear: () => {} });
  const words = Array.from({ length: 500 }, (_, index) => `lane ${"a".repeat(36)} host-${index}.test`);
  for (const word of words) messenger.tell(word);
  const all = () => heard.flatMap((each) => JSON.parse(each) as string[]);
  await until(all, ({ length }) => length === words.length);
  expect(all()).toEqual(words);
  await messenger.close();
  await client.end();
  await drop();
});

test("a messenger whose connection is cut, and one that hears nonsense, hears on", async () => {
  const { url, drop } = await freshDatabase();
  const { client } = await listener(url);
  const heard: string[] = [];
  const messenger = openMessenger({ url, clock, hear: (word) => void heard.push(word) });
  const first = await untilListening(client, 1);
  await client.query("SELECT pg_terminate_backend($1)", [first]);
  await untilListening(client, 1, first);
  for (const payload of ["{", "7", '[1,"queue a"]']) {
    await client.query("SELECT pg_notify('postrider', $1)", [payload]);
  }
  await until(() => heard.length);
  expect(heard).toEqual(["queue a"]);
  await messenger.close();
  await client.end();
  await drop();
});

test("once a store has come to another server, words are heard over another connection, since the one that was open may lead to the former", async () => {
  const { url, drop } = await freshDatabase();
  const { client } = await listener(url);
  let comeToAnother = () => {};
  const near = await openOther(url);
  const onOther = (forget: () => void) => {
    comeToAnother = forget;
  };
  const store = hearOthers({ ...near, onOther }, { url, clock });
  const first = await untilListening(client, 1);
  const heard = new Promise<string>((resolve) => void store.queue.onReady(resolve));
  comeToAnother();
  await untilListening(client, 1, first);
  await client.query(`SELECT pg_notify('postrider', '["queue a"]')`);
  expect(await heard).toBe("a");
  await store.close();
  await client.end();
  await drop();
});

test("a connection that was just being opened when a store has come to another server is not kept", async () => {
  const { url, drop } = await freshDatabase();
  const { client } = await listener(url);
  const proxy = await openPostgresProxy(url);
  const listening = proxy.silenceAfter("LISTEN postrider");
  const messenger = openMessenger({ url: proxy.url, clock, hear: () => {} });
  await listening;
  const first = await untilListening(client, 1);
  messenger.renew();
  proxy.speak();
  await untilListening(client, 1, first);
  await messenger.close();
  await proxy.close();
  await client.end();
  await drop();
});

test("a messenger that cannot look for copies, since its connection has fallen silent, hears on over another", async () => {
  const { url, drop } = await freshDatabase();
  const { client } = await listener(url);
  const held = createHeldClock();
  const heard: string[] = [];
  let looks = 0;
  const copies = { look: () => (++looks === 2 ? Promise.reject(new Error("silent")) : Promise.resolve()) };
  const messenger = openMessenger({ url, clock: held, hear: (word) => void heard.push(word), copies });
  const first = await untilListening(client, 1);
  const advanced = async () => {
    await held.advance(30_000);
    return looks;
  };
  await until(advanced, (count) => count > 2);
  await untilListening(client, 1, first);
  await client.query(`SELECT pg_notify('postrider', '["queue a"]')`);
  await until(() => heard.length);
  expect(heard).toEqual(["queue a"]);
  await messenger.close();
  await client.end();
  await drop();
});
