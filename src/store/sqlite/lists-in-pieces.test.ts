import { expect, test } from "bun:test";
import { createWorld, type World } from "../contract/world.contract.ts";
import type { Driver } from "./database/driver.ts";
import { openInMemory, openWithDriver } from "./sqlite-world.contract.ts";

/** Turns of the event loop that begin and end while `work` runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  isOver = true;
  return turns;
}

/** Enough for a page that passes over all of them to take several pieces. */
async function sendMany({ sms, claim, settle }: Pick<World, "sms" | "claim" | "settle">): Promise<void> {
  const to = Array.from({ length: 900 }, (_, index) => `+91${index}`);
  await sms({ to, content: { callbackUrl: "https://hooks.test/" } });
  for (const job of await claim(to.length)) await settle(job);
}

test("a list that passes over many messages lets others work in between", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await sendMany(world);
  const query = { accountId: world.account.id, channel: "sms", limit: 5, createdFrom: 0 } as const;
  const list = () => store.messages.list({ ...query, status: "failed" });
  expect(await turnsDuring(list)).toBeGreaterThanOrEqual(2);
  expect(await list()).toEqual({ messages: [] });
  await store.close();
});

test("a list of webhooks, and a replay of them, lets others work in between", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await sendMany(world);
  const selection = { accountId: world.account.id, host: "nowhere.test" };
  const list = () => store.outbox.list(selection, { limit: 5 });
  const fromTheEnd = () => store.outbox.list(selection, { limit: 5, order: "newest" });
  const replay = () => store.outbox.replayAll(selection, { limit: 5 });
  for (const walk of [list, fromTheEnd, replay]) expect(await turnsDuring(walk)).toBeGreaterThanOrEqual(3);
  expect(await list()).toEqual({ events: [] });
  expect(await replay()).toEqual({ replayed: 0 });
  await store.close();
});

test("a page of the event feed lets others work in between, and has every event once", async () => {
  const { store } = await openInMemory();
  const world = await createWorld(store);
  await sendMany(world);
  const { id: accountId } = world.account;
  const read = (limit: number, after = 0) => store.feed.read({ accountId, after, limit });
  expect(await turnsDuring(() => read(1_000))).toBeGreaterThanOrEqual(5);
  const whole = await read(1_000);
  expect(whole.events).toHaveLength(900);
  const first = await read(250);
  expect(first.events).toEqual(whole.events.slice(0, 250));
  const second = await read(650, first.next);
  expect(second).toEqual({ events: whole.events.slice(250), next: whole.next });
  expect(await read(5, whole.next)).toEqual({ events: [], next: whole.next });
  await store.close();
});

/** Inserts that many rows with the ids 1, 2, 3 …, as 8 digits. */
function fill(driver: Driver, count: number, insert: (id: string) => string): void {
  const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})`;
  driver.exec(`${numbers} ${insert("printf('%08d', n)")} FROM numbers`);
}

test("a search among opt-outs that no index answers lets others work in between, and so does one among sandbox messages", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { account } = await createWorld(store);
  fill(
    driver,
    9_000,
    (id) => `INSERT INTO opt_outs (id, account_id, recipient, reason, created_at)
    SELECT ${id}, '${account.id}', '+91' || n, 'stop', 0`,
  );
  fill(
    driver,
    9_000,
    (
      id,
    ) => `INSERT INTO sandbox_messages (id, account_id, message_id, channel, recipient, received_at, rendered)
    SELECT ${id}, '${account.id}', 'm', 'sms', '+91' || n, 0, '{}'`,
  );
  const accountId = account.id;
  const written = { text: "918999", fields: ["recipient"] } as const;
  for (const { where, ...page } of [
    { where: { recipient: "+918999" } },
    { where: { accountId }, search: written },
  ]) {
    const search = () => store.records.list("optOuts", where, { ...page, limit: 5 });
    expect(await turnsDuring(search)).toBeGreaterThanOrEqual(3);
    expect((await search()).map(({ id }) => id)).toEqual(["00008999"]);
    expect(await store.records.list("optOuts", where, { ...page, limit: 5, after: "00008999" })).toEqual([]);
  }
  for (const query of [{ to: "+918999" }, { accountId, to: "+918999", after: "00000007" }]) {
    const list = () => store.sandbox.list({ ...query, limit: 5 });
    expect(await turnsDuring(list)).toBeGreaterThanOrEqual(3);
    expect((await list()).map(({ id }) => id)).toEqual(["00008999"]);
  }
  for (const query of [{ to: "+9111" }, { accountId, to: "+9111", after: "00008000" }]) {
    const list = () => store.sandbox.list({ ...query, order: "newest", limit: 5 });
    expect(await turnsDuring(list)).toBeGreaterThanOrEqual(3);
    expect((await list()).map(({ id }) => id)).toEqual(["00000011"]);
  }
  expect(await store.sandbox.list({ accountId, limit: 4_500 })).toHaveLength(4_500);
  await store.close();
});

test("counting what is ready lets others work between one queue and the next", async () => {
  const { store } = await openInMemory();
  const { sms } = await createWorld(store);
  for (const queue of ["a", "b", "c", "d"]) await sms({ queue });
  const count = () => store.queue.backlog(10);
  expect(await turnsDuring(count)).toBeGreaterThanOrEqual(3);
  expect((await count()).map(({ queue, ready }) => [queue, ready])).toEqual([
    ["a", 1],
    ["b", 1],
    ["c", 1],
    ["d", 1],
  ]);
  await store.close();
});

test("removing a route looks at jobs that wait for others with others' work in between", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, clock, id } = await createWorld(store);
  const routes = [id(), id()];
  for (const queue of routes) await sms({ queue, dueAt: clock.now + 1 });
  driver.exec("DELETE FROM jobs WHERE queue = (SELECT max(number) FROM queues)");
  fillJobs(driver, 40_000);
  const unused = { id: routes[1] ?? "", channel: "sms", match: "*", connectorIds: [], createdAt: 0 } as const;
  await store.records.create("routes", unused);
  let removed: unknown;
  const remove = async () => {
    removed = await store.records.remove("routes", unused.id);
  };
  expect(await turnsDuring(remove)).toBeGreaterThanOrEqual(4);
  expect(removed).toBe(true);
  await store.close();
});

test("a route whose only job is claimed while the jobs of others are looked at is in use", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, clock, id } = await createWorld(store);
  const route = { id: id(), channel: "sms", match: "*", connectorIds: [], createdAt: 0 } as const;
  await store.records.create("routes", route);
  for (const queue of [id(), route.id]) await sms({ queue });
  fillJobs(driver, 20_000);
  const removed = store.records.remove("routes", route.id);
  await turnsDuring(() => Promise.resolve());
  const claim = { queue: route.id, limit: 1, now: clock.now, leaseMs: 60_000 };
  expect(await store.queue.claim(claim)).toHaveLength(1);
  expect(await removed).toBe("in_use");
  await store.close();
});

/** Jobs of the first queue, which wait. */
function fillJobs(driver: Driver, count: number): void {
  fill(
    driver,
    count,
    () => `INSERT INTO jobs (queue, flow, message_id, deadline, due_at, is_leased, was_interrupted, claim, attempt)
    SELECT 1, 1, 'm', 0, 1, 0, 0, 0, 0`,
  );
}
