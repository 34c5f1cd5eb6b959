import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

const OPT_OUTS = 5_000;
const LOOKS = 100;

const FILL = `INSERT INTO opt_outs (id, account_id, recipient, reason, created_at)
  SELECT gen_random_uuid()::text, $1, '+1415' || n, 'r', 0 FROM generate_series(1, $2::int) n`;

const READ =
  "SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS read FROM pg_stat_user_tables WHERE relname = 'opt_outs'";

test("an erasure reads each opt-out a few times, however many lie behind its stretch", async () => {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const driver = openDriver({ url, connections: 1 });
  await driver.query(FILL, [world.account.id, OPT_OUTS]);
  const about = { id: world.id(), salt: "s", digest: "d", createdAt: world.clock.now };
  await store.erasures.create({ ...about, recipient: "+14157" });
  await scansOf(driver, url, async ({ erasures }) => {
    while ((await erasures.advance(world.clock.now, LOOKS)) > 0);
  });
  expect(await store.erasures.find(about.id)).toMatchObject({ completedAt: world.clock.now });
  const [row] = await driver.query<{ read: number }>(READ);
  expect(row?.read).toBeLessThan(10 * OPT_OUTS);
  await driver.close();
  await store.close();
}, 120_000);
