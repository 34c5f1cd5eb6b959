import { expect, test } from "bun:test";
import { present } from "../../../core/present.ts";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { type Driver, openDriver } from "../database/driver.ts";
import { scansOf } from "../database/table-scans.contract.ts";
import { openFresh } from "../postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

/** More than the executions after which the server may keep a plan for all values. */
const ROUNDS = 8;
const OTHERS = 3_000;

async function read(driver: Driver, table: string): Promise<number> {
  const [row] = await driver.query<{ read: number }>(
    `SELECT (seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::bigint AS read
     FROM pg_stat_user_tables t WHERE relname = $1`,
    [table],
  );
  return row?.read ?? 0;
}

function write(store: Store, { account, clock, id }: Ground, text: string) {
  const at = { receivedAt: clock.now, sameSince: clock.now - DAY };
  const piece = { ...at, id: id(), key: id(), accountId: account.id, connectorId: "c", text } as const;
  return store.inbound.receive([
    { ...piece, from: "+919812345678", to: "+14155550123", encoding: "gsm7", segments: 1 },
  ]);
}

const OPT_OUTS = `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
  SELECT 'o' || n, $1, CASE WHEN n % 2 = 0 THEN '14155550123' END, '+4915' || n, 'stop', 0 FROM generate_series(1, $2::int) n`;

for (const scope of ["sender", "account"]) {
  test(`a stop word and a start word, which are about the ${scope}, cost no more because thousands have opted out`, async () => {
    const { store, url } = await openFresh();
    const world = await createWorld(store);
    const { account } = world;
    await store.records.setSettings(account.id, { opt_out_scope: scope });
    const driver = openDriver({ url, connections: 1 });
    await driver.query(OPT_OUTS, [account.id, OTHERS]);
    await driver.query("ANALYZE");
    await scansOf(driver, url, async (other) => {
      for (let round = 0; round < ROUNDS; round++) {
        expect(await write(other, world, "STOP")).toMatchObject([{ keyword: "stop" }]);
        expect(await write(other, world, "START")).toMatchObject([{ keyword: "start" }]);
      }
    });
    expect(await read(driver, "opt_outs")).toBeLessThan(OTHERS);
    await driver.close();
    await store.close();
  }, 120_000);
}

test.each(["14155550123", undefined])(
  "asking who has opted out of %p reads no other opt-outs of the account, where it had none when the planner last looked",
  async (sender) => {
    const { store, url } = await openFresh();
    const { account } = await createWorld(store);
    const driver = openDriver({ url, connections: 1 });
    await driver.hold((connection) => connection.exec("VACUUM (ANALYZE) opt_outs"));
    await driver.query(OPT_OUTS, [account.id, OTHERS]);
    const query = { accountId: account.id, ...present({ sender }), to: ["+49151", "+49152", "+1"] };
    await scansOf(driver, url, async (other) => {
      for (let round = 0; round < ROUNDS; round++)
        expect(await other.suppressions.findOptedOut(query)).toEqual(["+49151", "+49152"]);
    });
    expect(await read(driver, "opt_outs")).toBeLessThan(OTHERS);
    await driver.close();
    await store.close();
  },
  120_000,
);

const MESSAGES = `INSERT INTO inbound_messages (id, account_id, connector_id, provider_key, sender, recipient, text, segments,
    encoding, is_partial, received_at)
  SELECT ($1 || lpad(n::text, 12, '0'))::uuid, $2, 'c', 'k' || n, '+4915', '+1415', 'x', 1, 'gsm7', false, 0
  FROM generate_series(1, $3::int) n`;

const UNASSIGNED = 300;

const uses: Readonly<Record<string, (store: Store) => Promise<void>>> = {
  "looking for too many messages of no account": async ({ inbound }) =>
    expect(await inbound.dropUnassigned({ most: 20, limit: 10 })).toEqual([
      { connectorId: "c", messages: 10 },
    ]),
  "listing the messages of no account": async ({ inbound }) =>
    expect(await inbound.list({ accountId: null, limit: 20 })).toHaveLength(20),
};

for (const [what, use] of Object.entries(uses)) {
  test(`${what} reads none of an account, and costs no more where all of these are newer`, async () => {
    const { store, url } = await openFresh();
    const { account } = await createWorld(store);
    const driver = openDriver({ url, connections: 1 });
    await driver.query(MESSAGES, ["01a00000-0000-7000-8000-", null, UNASSIGNED]);
    await driver.query(MESSAGES, ["01b00000-0000-7000-8000-", account.id, OTHERS]);
    await driver.query("ANALYZE");
    await scansOf(driver, url, async (other) => {
      for (let round = 0; round < ROUNDS; round++) await use(other);
    });
    expect(await read(driver, "inbound_messages")).toBeLessThan(OTHERS);
    await driver.close();
    await store.close();
  }, 120_000);
}
