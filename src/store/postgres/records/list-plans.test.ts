import { expect, test } from "bun:test";
import { until } from "../../../../test/until.ts";
import type { OptOut } from "../../../core/records/accounts.ts";
import { openDriver } from "../database/driver.ts";
import { forgetEarlier, scansOf } from "../database/table-scans.contract.ts";
import { openFresh, openOther } from "../postgres-world.contract.ts";

const COUNT = 5_000;

/** Entries of indexes of the table that were read by sessions that are gone, with those of this one. */
const READ = `SELECT coalesce(sum(idx_tup_read), 0)::int AS read FROM pg_stat_user_indexes WHERE relname = 'opt_outs'`;

test("the opt-outs of an account that has hardly any, and those of one number, are found without reading the many of another account", async () => {
  const { store, url } = await openFresh();
  for (const id of ["crowded", "quiet"])
    await store.records.create("accounts", { id, name: id, mode: "live", createdAt: 0 });
  const driver = openDriver({ url, connections: 1 });
  await driver.query(
    `INSERT INTO opt_outs (id, account_id, recipient, reason, created_at)
     SELECT lpad(n::text, 6, '0'), 'crowded', '+1' || (4150000000 + n), 'manual', 0 FROM generate_series(1, ${COUNT}) AS n`,
  );
  await driver.query("ANALYZE opt_outs");
  const own = { accountId: "quiet", recipient: "+14155550100", reason: "manual", createdAt: 0 } as const;
  await store.records.create("optOuts", { ...own, id: "999999" });
  await forgetEarlier(driver);

  const other = await openOther(url, { connections: 1 });
  const list = (where: Partial<OptOut>) => other.records.list("optOuts", where, { limit: 10 });
  const crowded = { accountId: "crowded", recipient: `+1${4150000000 + COUNT}` };
  const search = { text: "0100", fields: ["recipient"] } as const;
  for (let round = 0; round < 3; round++) {
    expect(await list({ accountId: "quiet" })).toHaveLength(1);
    expect(await list({ accountId: "quiet", recipient: own.recipient })).toHaveLength(1);
    expect(await list(crowded)).toHaveLength(1);
    expect(await other.records.list("optOuts", { accountId: "quiet" }, { limit: 10, search })).toHaveLength(
      1,
    );
  }
  // What its only connection has read is counted when that is gone.
  await other.close();
  const entriesRead = async () => (await driver.query<{ read: number }>(READ))[0]?.read ?? 0;
  const read = await until(entriesRead, (entries) => entries > 0);
  expect(read).toBeLessThan(COUNT / 10);
  await driver.close();
  await store.close();
});

const MANY = 60_000;
const PART = 5_000;
const INSERT_PART = `INSERT INTO opt_outs (id, account_id, recipient, reason, created_at)
  SELECT lpad(n::text, 6, '0'), 'crowded', '+1' || (4150000000 + n), 'manual', 0 FROM generate_series($1::int, $2::int) AS n`;

/** Pages of the account's index of opt-outs that were read, as a part of all that it has. */
const PART_READ = `SELECT (sum(idx_blks_hit + idx_blks_read) / sum(pg_relation_size(indexrelid) / 8192))::float8 AS part
  FROM pg_statio_user_indexes WHERE relname = 'opt_outs'`;

test("a search in an account's opt-outs goes through them once, in however many pieces", async () => {
  const { store, url } = await openFresh();
  await store.records.create("accounts", { id: "crowded", name: "crowded", mode: "live", createdAt: 0 });
  const driver = openDriver({ url, connections: 1 });
  // In parts, since a statement may take ten seconds.
  for (let first = 0; first < MANY; first += PART) await driver.query(INSERT_PART, [first, first + PART - 1]);
  await driver.query("ANALYZE opt_outs");
  await scansOf(driver, url, async ({ records }) => {
    const search = { text: "nowhere", fields: ["recipient"] } as const;
    expect(await records.list("optOuts", { accountId: "crowded" }, { limit: 10, search })).toEqual([]);
  });
  const [row] = await driver.query<{ part: number }>(PART_READ);
  expect(row?.part).toBeLessThan(1);
  await driver.close();
  await store.close();
}, 120_000);
