import { expect, test } from "bun:test";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { createWorld, DAY, QUEUE, sent, type World } from "../contract/world.contract.ts";
import type { Store } from "../store.ts";
import { openDriver } from "./database/driver.ts";
import { scansOf } from "./database/table-scans.contract.ts";
import { behindProxy, openFresh } from "./postgres-world.contract.ts";

const DAYS = 3;
const PER_DAY = 160;

/** More than the executions after which the server may keep a plan for all values. */
const ROUNDS = 7;
const PER_ROUND = 20;

type Ground = Omit<World, "inside">;

async function claimSome(store: Store, { clock }: Ground, limit: number): Promise<readonly ClaimedJob[]> {
  const jobs = await store.queue.claim({ queue: QUEUE, limit, now: clock.now, leaseMs: 60_000 });
  expect(jobs).toHaveLength(limit);
  return jobs;
}

async function settleAll(store: Store, { clock }: Ground, jobs: readonly ClaimedJob[]): Promise<void> {
  const settlements = jobs.map(({ jobId, claim, messageId }) => ({
    jobId,
    claim,
    messageId,
    at: clock.now,
    connectorId: "c",
    countsAsAttempt: true,
    outcomes: [sent(`p-${messageId}`)],
    next: { kind: "done" } as const,
    keepsContent: false,
  }));
  expect(await store.queue.settle(settlements)).not.toContain(false);
}

async function sendSome(store: Store, world: Ground): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const jobs = await claimSome(store, world, PER_ROUND);
    await settleAll(store, world, jobs);
    const about = { accountId: world.account.id, channel: "sms", id: jobs[0]?.messageId ?? "" } as const;
    expect(await store.messages.find(about)).toBeDefined();
    expect(await store.messages.timeline(about)).toHaveLength(1);
  }
}

async function fill({ sms, clock }: Ground): Promise<void> {
  const content = { callbackUrl: "https://a.test/" };
  for (let day = 0; day < DAYS; day++) {
    await Promise.all(Array.from({ length: PER_DAY }, () => sms({ content })));
    clock.now += DAY;
  }
}

const ANALYZE = "ANALYZE";
const EXPECT_MANY_ACCOUNTS = `DO $$ DECLARE day regclass; BEGIN
  FOR day IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'messages'::regclass LOOP
    EXECUTE format('ALTER TABLE %s ALTER account SET (n_distinct = -1)', day);
  END LOOP; END $$`;

for (const [planner, statements] of [
  ["has never looked at its tables", []],
  ["knows its tables", [ANALYZE]],
  ["has looked when each message was another account's", [EXPECT_MANY_ACCOUNTS, ANALYZE]],
] as const) {
  test(`claims, settlements and lookups read one day's tables, by index alone, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const world = await createWorld(store);
    await fill(world);
    const driver = openDriver({ url, connections: 1 });
    for (const statement of statements) await driver.query(statement);
    const scans = await scansOf(driver, url, (other) => sendSome(other, world));
    expect(scans.filter(({ whole }) => whole > 0)).toEqual([]);
    const daily = scans.map(({ name }) => name).filter((name) => /_\d{8}$/.test(name));
    expect(daily).toEqual(["contents_20260115", "messages_20260115", "timeline_20260115"]);
    await driver.close();
    await store.close();
  }, 120_000);
}

const SANDBOX_MESSAGES = 30_000;

const FILL_SANDBOX = `INSERT INTO sandbox_messages
    (id, account_id, message_id, channel, recipient, received_at, rendered)
  SELECT lpad(n::text, 8, '0'), 'a', 'm', 'sms', '+911', n, '{}' FROM generate_series(1, $1::int) n`;

for (const isAnalyzed of [false, true]) {
  const planner = isAnalyzed ? "knows them" : "has never looked at them";
  test(`a page of sandbox messages is read alone, from either end, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const driver = openDriver({ url, connections: 1 });
    await driver.query(FILL_SANDBOX, [SANDBOX_MESSAGES]);
    if (isAnalyzed) await driver.query(ANALYZE);
    await scansOf(driver, url, async ({ sandbox }) => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const order of ["oldest", "newest"] as const) {
          for (const filter of [{}, { accountId: "a" }, { messageId: "m" }]) {
            const query = { ...filter, order, limit: PER_ROUND };
            const [first] = await sandbox.list(query);
            expect(first?.id).toBe(order === "oldest" ? "00000001" : "00030000");
            expect(await sandbox.list({ ...query, after: "00015000" })).toHaveLength(PER_ROUND);
          }
        }
      }
    });
    const [row] = await driver.query<{ read: number }>(
      "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'sandbox_messages'",
    );
    expect(row?.read).toBeLessThan(SANDBOX_MESSAGES);
    await driver.close();
    await store.close();
  }, 120_000);
}

const PARKED = 30_000;

/**
 * Every third has a second row, as receipts with two ids have. Those of one connector are found by an index that does not have
 * their order, since one that has would cost each early receipt more; a connector has 100,000 at most.
 */
const FILL_PARKED = `INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt)
  SELECT 'c', n::text, CASE n % 3 WHEN 2 THEN -1 END, n, '{}'
  FROM generate_series(1, $1::int) n`;

const FILL_ERASURES = `INSERT INTO erasures (id, salt, digest, created_at, completed_at)
  SELECT lpad(n::text, 8, '0'), 's', 'd', n, n FROM generate_series(1, $1::int) n`;

for (const isAnalyzed of [false, true]) {
  const planner = isAnalyzed ? "knows them" : "has never looked at them";
  test(`a page of parked receipts or erasures is read alone, from either end, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const driver = openDriver({ url, connections: 1 });
    for (const fill of [FILL_PARKED, FILL_ERASURES]) await driver.query(fill, [PARKED]);
    if (isAnalyzed) await driver.query(ANALYZE);
    await scansOf(driver, url, async ({ receipts, erasures }) => {
      for (let round = 0; round < ROUNDS; round++) {
        for (const order of ["oldest", "newest"] as const) {
          const page = { order, limit: PER_ROUND };
          expect(await receipts.parked(page)).toHaveLength(PER_ROUND);
          expect(await receipts.parked({ ...page, after: "15000" })).toHaveLength(PER_ROUND);
          const [first] = await erasures.list(page);
          expect(first?.id).toBe(order === "oldest" ? "00000001" : "00030000");
          expect(await erasures.list({ ...page, after: "00015000" })).toHaveLength(PER_ROUND);
        }
      }
    });
    const read = await driver.query<{ name: string; read: number }>(
      `SELECT relname::text AS name, seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables
       WHERE relname IN ('erasures', 'parked_receipts') ORDER BY relname`,
    );
    expect(read.map(({ name }) => name)).toEqual(["erasures", "parked_receipts"]);
    for (const table of read) expect(table.read).toBeLessThan(PARKED);
    await driver.close();
    await store.close();
  }, 120_000);
}

const KEYS = 3_000;

const FILL_KEYS = `INSERT INTO idempotency_keys (name, taken_at, body, status, body_digest, expires_at)
  SELECT gen_random_uuid(), n, '', 202, '', n FROM generate_series(1, $1::int) n`;

test("an erasure reads each saved answer once or twice, in however many stretches", async () => {
  const { store, url } = await openFresh();
  const { id, clock } = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await driver.query(FILL_KEYS, [KEYS]);
  await driver.query(ANALYZE);
  await scansOf(driver, url, async ({ erasures }) => {
    await erasures.create({ id: id(), recipient: "+9199999", createdAt: clock.now, salt: "s", digest: "d" });
    while ((await erasures.advance(clock.now, KEYS / 20)) > 0);
  });
  const [row] = await driver.query<{ read: number }>(
    "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'idempotency_keys'",
  );
  expect(row?.read).toBeLessThan(3 * KEYS);
  await driver.close();
  await store.close();
}, 120_000);

test("settling a hundred messages takes as many statements as settling one, and so does claiming them", () =>
  behindProxy(async ({ far, proxy }) => {
    const world = await createWorld(far);
    await world.sms({
      to: Array.from({ length: 102 }, (_, at) => `+91${at}`),
      content: { callbackUrl: "https://a.test/" },
    });
    const costs = [];
    // The first meets the queue, and the connection.
    for (const count of [1, 1, 100]) {
      const before = proxy.answered();
      const jobs = await claimSome(far, world, count);
      const between = proxy.answered();
      await settleAll(far, world, jobs);
      costs.push({ claim: between - before, settle: proxy.answered() - between });
    }
    expect(costs[2]).toEqual(costs[1]!);
    expect(costs[2]!.claim).toBeLessThanOrEqual(10);
    expect(costs[2]!.settle).toBeLessThanOrEqual(14);
  }));

test("what is sent without waiting takes no round trip: two for an accept, five for a claim, three for a settlement", () =>
  behindProxy(async ({ far, proxy }) => {
    const world = await createWorld(far);
    const costs: Record<string, number> = {};
    const cost = async <T>(name: string, run: () => Promise<T>): Promise<T> => {
      const before = proxy.roundTrips();
      const result = await run();
      costs[name] = proxy.roundTrips() - before;
      return result;
    };
    // The first meets the queue, and the connection.
    for (const key of ["first", "second"]) {
      const idempotency = { ...world.key(key), answer: { status: 202, body: "{}" } };
      await cost("accept", () => world.sms({ idempotency }));
      const jobs = await cost("claim", () => claimSome(far, world, 1));
      await cost("settle", () => settleAll(far, world, jobs));
    }
    expect(costs).toEqual({ accept: 2, claim: 5, settle: 3 });
  }));
