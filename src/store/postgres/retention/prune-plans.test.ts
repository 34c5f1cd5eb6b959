import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { forgetEarlier } from "../database/table-scans.contract.ts";
import { openClosable } from "../database/transactions.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { createDays } from "./days.ts";
import { createPruneMessages } from "./prune-messages.ts";

/** With half as many of both PostgreSQL takes the right way even where it need not. */
const OLD = 500;
const OTHERS = 8_000;

/** Messages that have ended, with all that belongs to them, one that has not, and very much that belongs to later ones. */
async function fill({ sms, claim, store, clock }: Omit<World, "inside">, driver: Driver): Promise<void> {
  await sms({
    to: Array.from({ length: OLD }, (_, at) => `+91${at}`),
    content: { callbackUrl: "https://a.test/" },
  });
  const error = { code: "smpp.0x0000000B", message: "invalid destination" };
  const about = { at: clock.now, countsAsAttempt: true, connectorId: "c", keepsContent: false };
  await store.queue.settle(
    (await claim(OLD)).map(({ jobId, claim, messageId }) => ({
      ...about,
      jobId,
      claim,
      messageId,
      outcomes: [{ kind: "rejected", error }],
      next: { kind: "done" },
    })),
  );
  await sms({ queue: "slow" });
  await driver.query("UPDATE webhooks SET state = 'delivered'");
  for (const sql of LATER) await driver.query(sql, [OTHERS]);
}

const LATER = [
  `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at)
   SELECT ('f' || right(gen_random_uuid()::text, 35))::uuid, 1, 1, 1, '1 a.test', 'sms.sent', 'delivered', n
   FROM generate_series(1, $1::int) n`,
  "INSERT INTO webhook_attempts (webhook, number, at, ms) SELECT id, 1, 0, 1 FROM webhooks LIMIT $1",
  `INSERT INTO provider_ids (connector_id, id_key, message_id, part)
   SELECT 'c', message_id::text, message_id, 0 FROM webhooks LIMIT $1`,
];

/** Rows that were read by an index, and those of a table that was read from its beginning to its end. */
const READ = `SELECT sum(seq_tup_read + read)::bigint AS read FROM pg_stat_user_tables
  JOIN (SELECT relid, sum(idx_tup_read) AS read FROM pg_stat_user_indexes GROUP BY relid) AS by_index USING (relid)
  WHERE relname IN ('webhooks', 'webhook_attempts', 'provider_ids')`;

for (const [way, maxKept] of [
  ["whole", undefined],
  ["row by row", 0],
] as const) {
  test(`pruning a day ${way} reads nothing of later days, where the planner has never looked at the tables`, async () => {
    const { store, url } = await openFresh();
    const driver = openDriver({ url, connections: 1 });
    const world = await createWorld(store);
    await fill(world, driver);
    await forgetEarlier(driver);
    const other = openDriver({ url, connections: 1 });
    const [session] = await other.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const { database, within } = openClosable(other, createSystemClock());
    const prune = createPruneMessages(database, {
      days: createDays(within),
      ...(maxKept !== undefined && { maxKept }),
    });
    const bounds = { before: world.clock.now + 2 * DAY, atLatest: 0, limit: OLD };
    let pruned = 0;
    for (let moved = 1; moved > 0; pruned += moved) moved = await prune(bounds);
    expect(pruned).toBeGreaterThanOrEqual(OLD);
    // What a connection has read is counted when the server has ended it, a moment after it was closed.
    await other.close();
    await until(
      () => driver.query("SELECT 1 FROM pg_stat_activity WHERE pid = $1", [session?.pid ?? null]),
      ({ length }) => length === 0,
    );
    const [row] = await driver.query<{ read: number }>(READ);
    expect(row?.read).toBeWithin(OLD, OTHERS);
    await driver.close();
    await store.close();
  }, 120_000);
}
