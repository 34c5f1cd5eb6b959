import { expect, test } from "bun:test";
import type { Receipt } from "../../../core/messages/outcome.ts";
import { createWorld, sent, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

const MESSAGES = 200;

type Ground = Omit<World, "inside">;

async function sendAll({ sms, claim, clock, store }: Ground): Promise<readonly string[]> {
  await sms({ to: Array.from({ length: MESSAGES }, (_, index) => `+91${index}`) });
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
      outcomes: [sent(`p-${messageId}`)],
      next: { kind: "done" },
    })),
  );
  return jobs.map(({ messageId }) => `p-${messageId}`);
}

async function receiveAll(store: Store, { clock }: Ground, ids: readonly string[]): Promise<void> {
  const about = { connectorId: "c", status: "delivered", receivedAt: clock.now } as const;
  await store.receipts.record(ids.map((providerMessageId) => ({ ...about, providerMessageId })));
}

test("a receipt costs no more because others are awaited, also where none were when the planner last looked", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  await receiveAll(store, world, await sendAll(world));
  const driver = openDriver({ url, connections: 1 });
  await driver.query("ANALYZE");
  const ids = await sendAll(world);
  await scansOf(driver, url, (other) => receiveAll(other, world, ids));
  const [awaited] = await driver.query<{ read: number }>(
    "SELECT idx_tup_read AS read FROM pg_stat_user_indexes WHERE indexrelname = 'provider_ids_awaited'",
  );
  expect(awaited?.read).toBeLessThanOrEqual(MESSAGES);
  await driver.close();
  await store.close();
}, 120_000);

const OVERDUE = `INSERT INTO overdue_receipts (message_id, part, connector_id, asked, ask_at)
  SELECT gen_random_uuid(), 0, 'c', 0, 0 FROM generate_series(1, 1000)`;

test("a receipt costs no more because others are overdue, also where one was when the planner last looked", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const ids = await sendAll(world);
  const driver = openDriver({ url, connections: 1 });
  for (const sql of [OVERDUE, "DELETE FROM overdue_receipts", "ANALYZE", OVERDUE]) await driver.query(sql);
  await scansOf(driver, url, (other) => receiveAll(other, world, ids));
  const [overdue] = await driver.query<{ read: number }>(
    "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname = 'overdue_receipts'",
  );
  expect(overdue?.read).toBeLessThanOrEqual(MESSAGES);
  await driver.close();
  await store.close();
}, 120_000);

/** Few enough for the worst plan, which reads the table once for each pair of receipts, to come to an end. */
const PARKED = 200;

/** Rows of its indexes that parking, taking, dropping and pruning may read for each receipt that is parked. */
const MOST_PER_PARKED = 20;

/** As the table is left when receipts were early by moments only: pages, and no row in them. */
const DRAINED = [
  `INSERT INTO parked_receipts (connector_id, id_key, at, receipt)
    SELECT 'c', 'old-' || number, 0, '{}' FROM generate_series(1, 1000) AS number`,
  "DELETE FROM parked_receipts",
  "ANALYZE parked_receipts",
];

const earlyReceipts = ({ clock }: Ground, of = PARKED): readonly Receipt[] =>
  Array.from({ length: of }, (_, number) => ({
    connectorId: "c",
    providerMessageId: `early-${number}`,
    otherId: `also-${number}`,
    status: "delivered",
    receivedAt: clock.now,
  }));

const uses: Readonly<Record<string, (store: Store, world: Ground) => Promise<unknown>>> = {
  "is parked": (store, world) => store.receipts.record(earlyReceipts(world)),
  "is parked too often": async (store, world) => {
    for (let times = 0; times < 10; times++) await store.receipts.record(earlyReceipts(world, PARKED / 10));
  },
  "is dropped": async (store, world) => {
    await store.receipts.record(earlyReceipts(world));
    expect(await store.receipts.dropParked({ most: 10, limit: 2 * PARKED })).toHaveLength(1);
  },
  "is pruned": async (store, world) => {
    await store.receipts.record(earlyReceipts(world));
    expect(await store.retention.pruneReceived(world.clock.now + 1, 2 * PARKED)).toBe(PARKED);
  },
};

for (const [what, use] of Object.entries(uses)) {
  test(`a receipt that ${what} costs no more where none were parked when the planner last looked`, async () => {
    const { store, url } = await openFresh();
    const world = await createWorld(store);
    const driver = openDriver({ url, connections: 1 });
    for (const sql of DRAINED) await driver.query(sql);
    await scansOf(driver, url, async (other) => void (await use(other, world)));
    const [parked] = await driver.query<{ read: number }>(
      "SELECT sum(idx_tup_read)::bigint AS read FROM pg_stat_user_indexes WHERE relname = 'parked_receipts'",
    );
    expect(parked?.read).toBeLessThan(MOST_PER_PARKED * PARKED);
    await driver.close();
    await store.close();
  }, 120_000);
}

/** Every five-thousandth is of another connector. */
const LISTED = `INSERT INTO parked_receipts (connector_id, id_key, at, receipt)
  SELECT CASE n % 5000 WHEN 0 THEN 'rare' ELSE 'often' END, 'p-' || n, 0,
    '{"connectorId":"x","providerMessageId":"p","status":"delivered","receivedAt":0}'
  FROM generate_series(1, 20000) n`;

const READ =
  "SELECT seq_tup_read + idx_tup_fetch AS read FROM pg_stat_user_tables WHERE relname = 'parked_receipts'";

/** Rows that a page of twenty may read. */
const MOST_PER_PAGE = 1_100;

for (const isAnalyzed of [false, true]) {
  const planner = isAnalyzed ? "knows them" : "has never looked at them";
  test(`a page of one connector's parked receipts reads few, whether it has many or not, where the planner ${planner}`, async () => {
    const { store, url } = await openFresh();
    const driver = openDriver({ url, connections: 1 });
    await driver.query(LISTED);
    if (isAnalyzed) await driver.query("ANALYZE");
    let pages = 0;
    await scansOf(driver, url, async ({ receipts }) => {
      for (const order of ["oldest", "newest"] as const) {
        for (const [connectorId, found] of [
          ["often", 20],
          ["rare", 4],
          ["none", 0],
        ] as const) {
          expect(await receipts.parked({ connectorId, order, limit: 20 })).toHaveLength(found);
          pages++;
        }
      }
    });
    const [row] = await driver.query<{ read: number }>(READ);
    expect(row?.read).toBeLessThanOrEqual(pages * MOST_PER_PAGE);
    await driver.close();
    await store.close();
  });
}

test("to drop some receipts of a connector that has too many reads little more than to count them, where the planner has never looked", async () => {
  const { store, url } = await openFresh();
  const driver = openDriver({ url, connections: 1 });
  await driver.query(LISTED);
  await scansOf(driver, url, async ({ receipts }) => {
    const dropped = await receipts.dropParked({ most: 19_900, limit: 50 });
    expect(dropped).toEqual([{ connectorId: "often", receipts: 50 }]);
  });
  const [row] = await driver.query<{ read: number }>(READ);
  expect(row?.read).toBeLessThan(21_000);
  await driver.close();
  await store.close();
});

/** Three connectors have as many as they may, and a fourth, whose receipts are the latest, 50 more. */
const LATEST = `INSERT INTO parked_receipts (connector_id, id_key, at, receipt)
  SELECT 'connector-' || least(n / 10000, 3), 'p-' || n, 0,
    '{"connectorId":"x","providerMessageId":"p","status":"delivered","receivedAt":0}'
  FROM generate_series(0, 40049) n`;

for (const isAnalyzed of [false, true])
  test(`to drop receipts of one connector reads none of all others, which came before, where the planner ${isAnalyzed ? "knows them" : "has never looked"}`, async () => {
    const { store, url } = await openFresh();
    const driver = openDriver({ url, connections: 1 });
    await driver.query(LATEST);
    if (isAnalyzed) await driver.query("ANALYZE");
    await scansOf(driver, url, async ({ receipts }) => {
      const dropped = await receipts.dropParked({ most: 10_000, limit: 50 });
      expect(dropped).toEqual([{ connectorId: "connector-3", receipts: 50 }]);
    });
    const [row] = await driver.query<{ read: number }>(READ);
    // All are counted, and then those of one are read.
    expect(row?.read).toBeLessThan(52_000);
    // After that, since what this reads may be counted at once.
    const oldest = "SELECT min(id) AS id FROM parked_receipts WHERE connector_id = 'connector-3'";
    expect(await driver.query(oldest)).toEqual([{ id: 30_051 }]);
    await driver.close();
    await store.close();
  });
