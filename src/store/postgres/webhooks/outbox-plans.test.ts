import { expect, test } from "bun:test";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver, type Session, type SqlValue } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { walk } from "./webhook-list.ts";

type Ground = Omit<World, "inside">;

const DAYS = 3;
const PER_DAY = 160;

/** More than the executions after which the server may keep a plan for all values. */
const ROUNDS = 7;
const PER_ROUND = 20;

/** Of each day messages that were sent, whose events wait for a number and whose webhooks for delivery. */
async function fill({ sms, clock, claim, store }: Ground): Promise<readonly string[]> {
  const ids: string[] = [];
  const to = Array.from({ length: PER_DAY }, (_, index) => `+91${index}`);
  for (let day = 0; day < DAYS; day++) {
    for (const one of to)
      ids.push(...(await sms({ to: [one], content: { callbackUrl: `https://${one.slice(-1)}.test/` } })));
    const jobs = await claim(PER_DAY);
    await store.queue.settle(
      jobs.map(({ jobId, claim, messageId }) => ({
        jobId,
        claim,
        messageId,
        at: clock.now,
        countsAsAttempt: true,
        keepsContent: false,
        outcomes: [{ kind: "sent", providerMessageIds: [`p-${messageId}`] }],
        next: { kind: "done" },
      })),
    );
    clock.now += DAY;
  }
  return ids;
}

/** @param ids of the messages, those of the first day first: only these are used */
async function useAll(store: Store, { account, clock }: Ground, ids: readonly string[]): Promise<void> {
  const accountId = account.id;
  let after = 0;
  for (let round = 0; round < ROUNDS; round++) {
    expect(await store.feed.numberEvents(PER_ROUND)).toBe(PER_ROUND);
    const page = await store.feed.read({ accountId, after, limit: PER_ROUND });
    expect(page.events).toHaveLength(PER_ROUND);
    after = page.next;
    await deliverSome(store, accountId, clock.now);
    const id = ids[round] ?? "";
    expect(await store.messages.cancel({ accountId, channel: "sms", id, now: clock.now })).toBe("too_late");
    expect(await store.outbox.ofMessage(id)).toHaveLength(1);
  }
}

async function deliverSome(store: Store, accountId: string, now: number): Promise<void> {
  const lanes = await store.outbox.readyLanes({ limit: 5 });
  const claimed = await store.outbox.claim({
    lanes: lanes.map((lane) => ({ lane, limit: 2 })),
    now,
    leaseMs: 60_000,
  });
  expect(claimed).toHaveLength(10);
  const attempt = { at: now, ms: 1, status: 200, head: "" };
  const settled = claimed.map((event, index) => {
    const verdict = index % 2 ? ({ kind: "again", at: now } as const) : ({ kind: "delivered" } as const);
    return { ...event, verdict, attempt };
  });
  expect(await store.outbox.settle(settled)).not.toContain(false);
  expect(await store.outbox.stage(now, 10)).toBe(5);
  await store.outbox.nextDueAt();
  const { events } = await store.outbox.list({ accountId, host: lanes[0]?.host ?? "" }, { limit: 10 });
  expect(events.length).toBeGreaterThan(0);
}

for (const isAnalyzed of [false, true]) {
  const planner = isAnalyzed ? "knows its tables" : "has never looked at its tables";
  test(`numbering, the feed and webhooks read by index, and of messages one day's tables, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const world = await createWorld(store);
    const ids = await fill(world);
    const driver = openDriver({ url, connections: 1 });
    if (isAnalyzed) await driver.query("ANALYZE");
    const scans = await scansOf(driver, url, (other) => useAll(other, world, ids));
    // It has one row.
    const whole = scans.filter((table) => table.whole > 0 && table.name !== "event_numbers");
    expect(whole).toEqual([]);
    const daily = scans
      .map(({ name }) => name)
      .filter((name) => /^(messages|contents|timeline)_\d{8}$/.test(name));
    expect(daily).toEqual(["contents_20260115", "messages_20260115", "timeline_20260115"]);
    await driver.close();
    await store.close();
  }, 120_000);
}

const WEBHOOKS = 30_000;

/** Over five days, every fiftieth failed. */
const FILL = `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
  SELECT gen_random_uuid(), 1, 1, (SELECT number FROM accounts WHERE id = $1), '1 a.test', 'sms.sent',
    CASE n % 50 WHEN 0 THEN 'failed' ELSE 'delivered' END, n * (5 * ${DAY}::bigint / $2::int)
  FROM generate_series(1, $2::int) n`;

/** The row that tells that there may be more. */
const ONE_MORE = 1;

for (const isAnalyzed of [false, true]) {
  const planner = isAnalyzed ? "knows them" : "has never looked at them";
  test(`a page of all webhooks of an account, or of those that failed, reads no others, from either end, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const { account } = await createWorld(store);
    const driver = openDriver({ url, connections: 1 });
    await driver.query(FILL, [account.id, WEBHOOKS]);
    if (isAnalyzed) await driver.query("ANALYZE");
    let pages = 0;
    await scansOf(driver, url, async ({ outbox }) => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const order of ["oldest", "newest"] as const) {
          for (const state of [{}, { state: "failed" }] as const) {
            const selection = { accountId: account.id, ...state };
            const first = await outbox.list(selection, { order, limit: PER_ROUND });
            expect(first.events).toHaveLength(PER_ROUND);
            const after = first.next ?? "";
            const second = await outbox.list(selection, { order, limit: PER_ROUND, after });
            expect(second.events).toHaveLength(PER_ROUND);
            pages += 2;
          }
        }
      }
    });
    const [row] = await driver.query<{ read: number }>(
      "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'webhooks'",
    );
    expect(row?.read).toBeLessThanOrEqual(pages * (PER_ROUND + ONE_MORE));
    await driver.close();
    await store.close();
  }, 120_000);
}

/** All in line for one host. */
const FILL_LINE = `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
  SELECT gen_random_uuid(), 1, 1, number, number || ' down.test', 'sms.sent', 'ready', n
  FROM accounts, generate_series(1, $2::int) n WHERE id = $1`;

const HOSTS = 10;

test("claims for other hosts pass over none of the events in line for one host, where those were all that the planner knew", async () => {
  const { store, url } = await openFresh();
  const { account, clock } = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await driver.query(FILL_LINE, [account.id, WEBHOOKS]);
  await driver.query("ANALYZE");
  await scansOf(driver, url, async ({ outbox }) => {
    for (let round = 0; round < ROUNDS; round++)
      for (const isNewestFirst of [false, true]) {
        const lanes = Array.from({ length: HOSTS }, (_, index) => ({
          lane: { accountId: account.id, host: `${index}.test` },
          limit: PER_ROUND,
          isNewestFirst,
        }));
        expect(await outbox.claim({ lanes, now: clock.now, leaseMs: 60_000 })).toEqual([]);
      }
  });
  const [row] = await driver.query<{ read: number }>(
    "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'webhooks'",
  );
  expect(row?.read).toBeLessThan(WEBHOOKS);
  await driver.close();
  await store.close();
}, 120_000);

const MESSAGES = 200;

/** Rows of its indexes that may be read for each webhook: they read 8. Plans that compare all with all read thousands. */
const MOST_PER_WEBHOOK = 30;

/** As the table is left when all messages that had webhooks are gone: pages, and no row in them. */
const DRAINED = ["DELETE FROM webhooks", "ANALYZE webhooks"];

/** Each message has two events, the second of which waits for the first. */
async function sendAndDeliver(store: Store, { sms, clock, claim }: Ground): Promise<void> {
  const to = Array.from({ length: MESSAGES }, (_, index) => `+91${index}`);
  await sms({ to, content: { callbackUrl: "https://a.test/" } });
  const jobs = await claim(MESSAGES);
  await store.queue.settle(
    jobs.map(({ jobId, claim, messageId }) => ({
      jobId,
      claim,
      messageId,
      at: clock.now,
      connectorId: "c",
      countsAsAttempt: true,
      keepsContent: false,
      outcomes: [{ kind: "sent", providerMessageIds: [`p-${messageId}`] }],
      next: { kind: "done" },
    })),
  );
  const about = { connectorId: "c", status: "delivered", receivedAt: clock.now } as const;
  await store.receipts.record(
    jobs.map(({ messageId }) => ({ ...about, providerMessageId: `p-${messageId}` })),
  );
  expect(await deliverAll(store, clock.now)).toBe(2 * MESSAGES);
}

async function deliverAll(store: Store, now: number): Promise<number> {
  let delivered = 0;
  for (let lanes = await store.outbox.readyLanes({ limit: 1 }); lanes.length > 0; ) {
    const claimed = await store.outbox.claim({
      lanes: lanes.map((lane) => ({ lane, limit: MESSAGES })),
      now,
      leaseMs: 60_000,
    });
    const settled = {
      verdict: { kind: "delivered" },
      attempt: { at: now, ms: 1, status: 200, head: "" },
    } as const;
    await store.outbox.settle(claimed.map((event) => ({ ...event, ...settled })));
    delivered += claimed.length;
    lanes = await store.outbox.readyLanes({ limit: 1 });
  }
  return delivered;
}

test("of the events that a page passes over, of other hosts and states, none leaves the server", async () => {
  const { store, url } = await openFresh();
  const { account } = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await driver.query(FILL, [account.id, WEBHOOKS]);
  let sent = 0;
  const counting: Session = {
    async query<Row>(sql: string, values?: readonly SqlValue[]) {
      const rows = await driver.query<Row>(sql, values);
      sent += rows.length;
      return rows;
    },
  };
  for (const passing of [{ host: "b.test" }, { state: "waiting" }] as const)
    for (const order of ["oldest", "newest"] as const) {
      sent = 0;
      const { rows, next } = await walk(
        counting,
        { accountId: account.id, ...passing },
        { limit: PER_ROUND, order },
      );
      expect(rows).toEqual([]);
      expect(next).toBeDefined();
      expect(sent).toBe(ONE_MORE);
    }
  await driver.close();
  await store.close();
});

test("a webhook costs no more where none were left when the planner last looked", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  await sendAndDeliver(store, world);
  const driver = openDriver({ url, connections: 1 });
  for (const sql of DRAINED) await driver.query(sql);
  await scansOf(driver, url, async (other) => sendAndDeliver(other, await createWorld(other)));
  const [row] = await driver.query<{ read: number }>(
    "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname = 'webhooks'",
  );
  expect(row?.read).toBeLessThan(2 * MESSAGES * MOST_PER_WEBHOOK);
  await driver.close();
  await store.close();
}, 120_000);
