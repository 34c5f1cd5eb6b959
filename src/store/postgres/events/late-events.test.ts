import { expect, test } from "bun:test";
import { openPostgresProxy } from "../../../../test/fakes/postgres-proxy.ts";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import type { FeedEvent } from "../../../core/webhooks/feed-event.ts";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { type Connection, openDriver } from "../database/driver.ts";
import { LOCKS } from "../database/lock-numbers.ts";
import { openFresh, openOther, withDriver } from "../postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

/** An event as a transaction writes it that moves the message; it is not committed. */
async function tell(session: Connection, { account }: Ground, id: string) {
  await session.exec(`BEGIN;
    INSERT INTO timeline (message_id, position, at, kind, status, sequence, event_type)
      VALUES ('${id}', 1, 0, 'status', 'sent', 1, 'sms.sent');
    INSERT INTO new_events (subject_id, position, account)
      SELECT '${id}', 1, number FROM accounts WHERE id = '${account.id}'`);
}

/** A reader that goes on from where it was. */
function follow({ store, account }: Ground) {
  let after = 0;
  return async () => {
    while ((await store.feed.numberEvents(10)) > 0);
    const { events, next } = await store.feed.read({ accountId: account.id, after, limit: 100 });
    after = next;
    return events.map(idOf);
  };
}

/** The number behind which events are numbered from now on: none of these stores goes ahead of what was given before any more. */
async function beginOf(...stores: readonly Store[]): Promise<number> {
  for (const { feed } of stores) expect(await feed.numberEvents(10)).toBe(0);
  return (await stores[0]?.feed.lastNumber()) ?? 0;
}

function idOf(event: FeedEvent): string {
  return event.kind === "message" ? event.message.id : event.id;
}

test("an event that was written first and is committed last is read last, and none twice", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const [slow = ""] = await world.sms({ queue: "elsewhere" });
  const [fast = ""] = await world.sms();
  const other = openDriver({ url, connections: 1 });
  const readMore = follow(world);
  await other.hold(async (connection) => {
    await tell(connection, world, slow);
    await world.settle(await world.claimOne());
    expect(await readMore()).toEqual([fast]);
    expect(await readMore()).toEqual([]);
    await connection.exec("COMMIT");
    expect(await readMore()).toEqual([slow]);
    expect(await readMore()).toEqual([]);
  });
  await other.close();
  await store.close();
}, 120_000);

test("what a numbering that is not committed has numbered is neither read nor counted, and nobody else numbers", async () => {
  const { store, url } = await openFresh();
  const before = await beginOf(store);
  const world = await createWorld(store);
  const [id = ""] = await world.sms();
  await world.settle(await world.claimOne());
  const other = openDriver({ url, connections: 1 });
  await other.hold(async (connection) => {
    await connection.exec(`BEGIN; SELECT pg_advisory_xact_lock(${LOCKS.numbering})`);
    expect(await store.feed.numberEvents(10)).toBe(0);
    expect(await store.feed.lastNumber()).toBe(before);
    await connection.exec("ROLLBACK");
  });
  expect(await follow(world)()).toEqual([id]);
  expect(await store.feed.lastNumber()).toBe(before + 1);
  await other.close();
  await store.close();
}, 120_000);

test("two that number at once give each event one number, and no number twice", async () => {
  const { store, url } = await openFresh();
  const other = (await openOther(url)) as unknown as Store;
  const before = await beginOf(store, other);
  const world = await createWorld(store);
  const to = Array.from({ length: 60 }, (_, index) => `+91${index}`);
  const ids = await world.sms({ to });
  const jobs = await world.claim(to.length);
  let isOver = false;
  const number = async (by: Store) => {
    let sum = 0;
    for (let isLast = false; ; isLast = isOver) {
      const moved = await by.feed.numberEvents(3);
      sum += moved;
      if (isLast && moved === 0) return sum;
    }
  };
  const numbered = [number(store), number(other), number(store), number(other)];
  try {
    for (const job of jobs) await world.settle(job);
  } finally {
    isOver = true;
  }
  const sums = await Promise.all(numbered);
  const rest = await number(store);
  expect(sums.reduce((sum, one) => sum + one, rest)).toBe(ids.length);
  expect(await store.feed.lastNumber()).toBe(before + ids.length);
  const { events } = await other.feed.read({ accountId: world.account.id, after: 0, limit: 100 });
  expect(events.map(idOf).toSorted()).toEqual(ids);
  await other.close();
  await store.close();
}, 120_000);

test("a process that stands still while it numbers holds the others up for seconds only", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const proxy = await openPostgresProxy(url);
  const still = (await openOther(proxy.url)) as unknown as Store;
  const [id = ""] = await world.sms();
  await world.settle(await world.claimOne());
  const isStill = proxy.silenceAfter(String(LOCKS.numbering));
  const numbering = still.feed.numberEvents(10).catch(() => 0);
  await isStill;
  const sinceMs = performance.now();
  await until(() => store.feed.numberEvents(10));
  expect(performance.now() - sinceMs).toBeLessThan(8_000);
  expect(await follow(world)()).toEqual([id]);
  await proxy.close();
  expect(await numbering).toBe(0);
  await still.close();
  await store.close();
}, 120_000);

test("an event of a day that another process has dropped is numbered all the same, and holds up none behind it", async () => {
  const { store, url } = await openFresh();
  const before = await beginOf(store);
  const world = await createWorld(store);
  const [dropped = ""] = await world.sms({ queue: "elsewhere" });
  world.clock.now += DAY;
  const [id = ""] = await world.sms();
  const other = openDriver({ url, connections: 1 });
  await other.hold(async (connection) => {
    await tell(connection, world, dropped);
    await connection.exec("COMMIT");
    for (const table of ["messages", "contents", "timeline", "events"])
      await connection.exec(`DROP TABLE ${table}_20260115`);
  });
  await world.settle(await world.claimOne());
  expect(await follow(world)()).toEqual([id]);
  expect(await store.feed.lastNumber()).toBe(before + 2);
  await other.close();
  await store.close();
}, 120_000);

test("an event that cannot be numbered holds up none behind it, is named, and is numbered once it can be", async () => {
  let laterMs = 0;
  const system = createSystemClock();
  const { store, inside } = await openFresh({ clock: { ...system, now: () => system.now() + laterMs } });
  const world = await createWorld(store);
  const ids = await world.sms({ to: ["+1415555010", "+1415555011", "+1415555012"] });
  const [first = "", bad = "", last = ""] = ids;
  await store.feed.numberEvents(10);
  await inside.change(
    `INSERT INTO events (subject_id, position, account, number) VALUES ('${bad}', 1, 0, 0)`,
  );
  for (const job of await world.claim()) await world.settle(job);
  const told: string[] = [];
  for (let count = 1; count > 0 && told.length < 2; )
    count = await store.feed.numberEvents(10).catch((error: Error) => told.push(error.message));
  expect(told).toEqual([expect.stringContaining(`message ${bad}, put off for 300 s: duplicate key`)]);
  const read = async () => {
    const { events } = await store.feed.read({ accountId: world.account.id, after: 0, limit: 100 });
    return events.map(idOf);
  };
  expect((await read()).toSorted()).toEqual([first, last].toSorted());
  await inside.change("DELETE FROM events WHERE account = 0");
  expect(await store.feed.numberEvents(10)).toBe(0);
  laterMs = 5 * 60_000;
  expect(await store.feed.numberEvents(10)).toBe(1);
  expect((await read()).at(-1)).toBe(bad);
  await store.close();
}, 120_000);

test("the key of readers' cursors is there before the first of them, so that no failover loses it with what came last", () =>
  withDriver(async (driver, url) => {
    const store = await openOther(url);
    const stored = "SELECT value FROM meta WHERE name = 'event_cursor_key'";
    const [row] = await driver.query<{ value: string }>(stored);
    expect(await store.feed.cursorKey()).toEqual(Buffer.from(row!.value, "hex"));
    await store.close();
  }));
