import { expect, test } from "bun:test";
import { createWorld, HOUR, type World } from "../../contract/world.contract.ts";
import type { MessageQuery, Store } from "../../store.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

const MESSAGES = 30_000;

const ROUNDS = 4;

/** The server makes one plan for all values, as it may after some executions. */
const WITH_GENERIC_PLANS = "?options=-c%20plan_cache_mode%3Dforce_generic_plan";

/** All messages are of one account when the planner looks at them; gives another that then sends to `to`. */
async function fill(world: Ground, driver: Driver, to: readonly string[]) {
  const other = await world.addAccount();
  await world.sms();
  await driver.query(COPIES, [MESSAGES]);
  await driver.query(LOOSEN);
  await driver.query("ANALYZE");
  await world.sms({ to, account: other });
  return other.id;
}

const COPIES = `INSERT INTO messages (id, account, content, channel, recipient, status, sequence, position, expires_at)
  SELECT (left(id::text, 24) || lpad(to_hex(n), 12, '0'))::uuid, account, content, channel, '+91' || n, status, sequence,
    position, expires_at
  FROM messages, generate_series(1, $1::int) n`;

/** Leaves an index with few entries on each page, as it is where many accounts send at once. */
const LOOSEN = "UPDATE messages SET recipient = recipient || '0'";

/** Entries of indexes of messages that were read. */
async function entriesRead(driver: Driver): Promise<number> {
  const [row] = await driver.query<{ read: number }>(
    "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname ~ '^messages_'",
  );
  return row?.read ?? 0;
}

async function list(store: Store, filter: Partial<MessageQuery>, { clock }: Ground) {
  const query = {
    accountId: "",
    channel: "sms",
    limit: 10,
    createdFrom: clock.now - HOUR,
    ...filter,
  } as const;
  return (await store.messages.list(query)).messages.map(({ recipient }) => recipient);
}

test("a list of an account's messages, and a search among them, read no other account's", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  const to = ["+4915112345", "+4915112346"];
  const accountId = await fill(world, driver, to);
  await scansOf(driver, `${url}${WITH_GENERIC_PLANS}`, async (another) => {
    for (let round = 0; round < ROUNDS; round++) {
      expect(await list(another, { accountId }, world)).toEqual(to.toReversed());
      expect(await list(another, { accountId, status: "sent" }, world)).toEqual([]);
      expect(await list(another, { accountId, tag: "none" }, world)).toEqual([]);
      expect(await list(another, { accountId, recipient: "+4915112345" }, world)).toEqual(["+4915112345"]);
      expect(await list(another, { accountId, recipient: "+911" }, world)).toEqual([]);
    }
  });
  expect(await entriesRead(driver)).toBeLessThan(MESSAGES);
  await driver.close();
  await store.close();
}, 120_000);

test("an erasure in one account reads no other's messages", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  const accountId = await fill(world, driver, ["+4915112345"]);
  await scansOf(driver, `${url}${WITH_GENERIC_PLANS}`, async (another) => {
    for (let round = 0; round < ROUNDS; round++) {
      const asked = { id: world.id(), accountId, recipient: "+4915112345", createdAt: world.clock.now };
      await another.erasures.create({ ...asked, salt: "s", digest: "d" });
      while ((await another.erasures.advance(world.clock.now, 100)) > 0);
    }
  });
  expect(await entriesRead(driver)).toBeLessThan(MESSAGES);
  expect(await list(store, { accountId, recipient: "+4915112345" }, world)).toEqual([]);
  await driver.close();
  await store.close();
}, 120_000);

/** Pages of indexes of messages that were read, as a part of all that there are. */
async function partOfIndexesRead(driver: Driver): Promise<number> {
  const [row] = await driver.query<{ part: number }>(
    `SELECT (sum(idx_blks_hit + idx_blks_read) / sum(pg_relation_size(indexrelid) / 8192))::float8 AS part
     FROM pg_statio_user_indexes WHERE relname ~ '^messages_'`,
  );
  return row?.part ?? 0;
}

test("a page of a list looks at the newest messages alone, however many older ones the account has", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await fill(world, driver, ["+4915112345"]);
  await scansOf(driver, url, async (another) => {
    const accountId = world.account.id;
    expect(await list(another, { accountId }, world)).toHaveLength(10);
    expect(await list(another, { accountId, status: "failed" }, world)).toEqual([]);
  });
  expect(await partOfIndexesRead(driver)).toBeLessThan(0.7);
  await driver.close();
  await store.close();
}, 120_000);

test("an erasure goes through the messages of an account once, in however many stretches", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await fill(world, driver, ["+4915112345"]);
  await scansOf(driver, url, async (another) => {
    const accountId = world.account.id;
    const asked = { id: world.id(), accountId, recipient: "+4915112345", createdAt: world.clock.now };
    await another.erasures.create({ ...asked, salt: "s", digest: "d" });
    while ((await another.erasures.advance(world.clock.now, 1_000)) > 0);
  });
  expect(await partOfIndexesRead(driver)).toBeLessThan(5);
  await driver.close();
  await store.close();
}, 120_000);
