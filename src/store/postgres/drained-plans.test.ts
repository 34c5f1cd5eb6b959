import { expect, test } from "bun:test";
import { partReference } from "../../core/receipts/short-reference.ts";
import { createWorld, DAY, SECOND, type World } from "../contract/world.contract.ts";
import type { Store } from "../store.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { scansOf } from "./database/table-scans.contract.ts";
import { openFresh } from "./postgres-world.contract.ts";

type Ground = Omit<World, "inside">;

/** Rows that the uses below have nothing to do with. */
const OTHERS = 1_000;

/**
 * Rows that all rounds together may read. Some go in each round, and what went is passed over by the next; whatever reads the others in
 * each round reads several times as many.
 */
const MOST = 3 * OTHERS;

/** More than the executions after which the server may keep a plan for all values. */
const ROUNDS = 8;

/** An id of a message far from all others. */
const FAR = "('f' || right(gen_random_uuid()::text, 35))::uuid";
const NUMBERS = "generate_series(1, $1::int) AS n";
const ACCOUNT = "(SELECT id FROM accounts LIMIT 1)";

/** When the next is due, if none of ours waits. */
const OF_OTHERS = [undefined, 9e15];

/** For each table, what puts the others into it. */
const FILL: Readonly<Record<string, string>> = {
  jobs: `INSERT INTO jobs (queue, flow, message_id, deadline, due_at) SELECT 99, 1, ${FAR}, 9e15, 9e15 FROM ${NUMBERS}`,
  webhooks: `INSERT INTO webhooks (message_id, sequence, position, account, lane, event_type, state, at, due_at)
    SELECT ${FAR}, 1, 1, 1, '1 b.test', 'sms.sent', 'waiting', 9e15, 9e15 FROM ${NUMBERS}`,
  webhook_attempts: `INSERT INTO webhook_attempts (webhook, number, at, ms) SELECT 1e9 + n, 1, 0, 1 FROM ${NUMBERS}`,
  idempotency_keys: `INSERT INTO idempotency_keys (name, body_digest, status, body, taken_at, expires_at)
    SELECT ${FAR}, 'd', 202, '{}', 0, 9e15 FROM ${NUMBERS}`,
  provider_ids: `INSERT INTO provider_ids (connector_id, id_key, message_id, part, awaited_since)
    SELECT 'other', 'id-' || n, ${FAR}, 0, 9e15 FROM ${NUMBERS}`,
  opt_outs: `INSERT INTO opt_outs (id, account_id, sender, recipient, reason, created_at)
    SELECT 'other-' || n, ${ACCOUNT}, CASE WHEN n % 2 = 0 THEN '14155550123' END, '+4915' || n, 'stop', 0 FROM ${NUMBERS}`,
  inbound_messages: `INSERT INTO inbound_messages (id, connector_id, provider_key, sender, recipient, text, segments, encoding,
      is_partial, received_at)
    SELECT ${FAR}, 'c', 'other-' || n, '+1', '+2', '', 1, 'gsm7', false, 9e15 FROM ${NUMBERS}`,
  parked_receipts: `INSERT INTO parked_receipts (connector_id, id_key, reference, at, receipt)
    SELECT 'other', 'other-' || n, 1e9 + n, 9e15, '{}' FROM ${NUMBERS}`,
  unconfirmed_parts: `INSERT INTO unconfirmed_parts (reference, message_id, part) SELECT 1e9 + n, ${FAR}, 0 FROM ${NUMBERS}`,
  contacts: `INSERT INTO contacts (id, account_id, external_id, created_at)
    SELECT 'other-' || n, ${ACCOUNT}, 'other-' || n, 0 FROM ${NUMBERS}`,
  registrations: `INSERT INTO registrations (id, account_id, app_id, contact_id, platform, token, device_id, created_at, updated_at)
    SELECT 'other-' || n, ${ACCOUNT}, (SELECT id FROM push_apps LIMIT 1), 'other-' || n, 'fcm', 'other-' || n, 'other-' || n, 0, 0
    FROM ${NUMBERS}`,
};

const DEFERRED = { kind: "deferred", error: { code: "smpp.0x00000058", message: "throttled" } } as const;

const UNANSWERED = {
  kind: "unconfirmed",
  error: { code: "smpp.timeout", message: "no answer" },
} as const;

/** Sends a message whose job waits for the next attempt. */
async function deferOne({ sms, claimOne, settle, clock }: Ground): Promise<string> {
  const [id = ""] = await sms();
  const next = { kind: "again", dueAt: clock.now + DAY / 2 } as const;
  await settle(await claimOne(), { outcomes: [DEFERRED], next });
  return id;
}

/** Fails to deliver a webhook, tries again, and delivers it; then it is replayed. */
async function deliver(store: Store, world: Ground): Promise<void> {
  const { sms, claimOne, settle, receive, clock } = world;
  const [messageId = ""] = await sms({ content: { callbackUrl: "https://a.test/" } });
  await settle(await claimOne());
  await receive(`p-${messageId}`);
  const attempt = { at: clock.now, ms: 1, status: 500, head: "" };
  const verdicts = [
    { kind: "again", at: clock.now + SECOND },
    { kind: "delivered" },
    { kind: "delivered" },
  ] as const;
  for (const verdict of verdicts) {
    const lane = { accountId: world.account.id, host: "a.test" };
    const claimed = await store.outbox.claim({
      lanes: [{ lane, limit: 1 }],
      now: clock.now,
      leaseMs: 60_000,
    });
    expect(await store.outbox.settle(claimed.map((event) => ({ ...event, verdict, attempt })))).toEqual([
      true,
    ]);
    clock.now += 2 * SECOND;
    await store.outbox.stage(clock.now, 10);
  }
  expect(OF_OTHERS).toContain(await store.outbox.nextDueAt());
  expect(await store.outbox.attempts({ messageId, sequence: 1 })).toHaveLength(2);
  expect(await store.outbox.replay({ messageId, sequence: 2 })).toBe(true);
  const lane = { accountId: world.account.id, host: "a.test" };
  const [again] = await store.outbox.claim({ lanes: [{ lane, limit: 1 }], now: clock.now, leaseMs: 60_000 });
  if (again) await store.outbox.settle([{ ...again, verdict: { kind: "delivered" }, attempt }]);
}

function pieceOf({ clock, id }: Ground, accountId: string, text: string) {
  const at = { receivedAt: clock.now, sameSince: clock.now - DAY };
  const about = { id: id(), key: id(), accountId, connectorId: "c", text } as const;
  return {
    ...at,
    ...about,
    from: "+919812345678",
    to: "+14155550123",
    encoding: "gsm7",
    segments: 1,
  } as const;
}

const APP = { id: "app", name: "app", platforms: ["fcm"], createdAt: 0 } as const;

async function identifyOne(store: Store, { id, clock }: Ground, accountId: string): Promise<void> {
  const answer = { status: 200, body: "{contact_id}" };
  const [deviceId, contactId] = [id(), id()];
  const device = { accountId, deviceId, now: clock.now, answer };
  const ids = { registrationId: id(), contactId: id() };
  await store.push.register({ ...device, ...ids, appId: APP.id, platform: "fcm", token: deviceId });
  const contact = { id: contactId, accountId, externalId: contactId, createdAt: 0 };
  await store.records.create("contacts", contact);
  expect((await store.push.identify({ ...device, externalId: contactId })).kind).toBe("done");
}

interface Use {
  readonly tables: readonly string[];
  /** One round; the account is the one that the others are of. */
  readonly run: (store: Store, world: Ground, accountId: string) => Promise<void>;
}

const USES: Readonly<Record<string, Use>> = {
  "canceling a message": {
    tables: ["jobs"],
    async run(store, { sms, account, clock }) {
      const [id = ""] = await sms({ dueAt: clock.now + DAY });
      const one = { accountId: account.id, channel: "sms", id, now: clock.now } as const;
      expect(await store.messages.cancel(one)).toBe("canceled");
      expect(OF_OTHERS).toContain(await store.queue.nextDueAt());
    },
  },
  "an answer that comes late": {
    tables: ["jobs"],
    async run(store, world) {
      const messageId = await deferOne(world);
      const late = { connectorId: "c", messageId, part: 0, parts: 1, providerMessageIds: [messageId] };
      await store.receipts.recordLateAnswer(late, world.clock.now);
      expect(OF_OTHERS).toContain(await store.queue.nextDueAt());
    },
  },
  "delivering a webhook": { tables: ["webhooks", "webhook_attempts"], run: deliver },
  "a repeat under an idempotency key": {
    tables: ["idempotency_keys"],
    async run(store, { sms, key, id }) {
      const mine = key(id());
      await sms({ idempotency: { ...mine, answer: { status: 202, body: "{}" } } });
      expect(await store.intake.savedAnswer(mine)).toMatchObject({ status: 202 });
    },
  },
  "a receipt": {
    tables: ["provider_ids"],
    async run(_, { sms, claimOne, settle, receive }) {
      const [id = ""] = await sms();
      await settle(await claimOne());
      expect(await receive(`p-${id}`)).toMatchObject([{ kind: "applied" }]);
    },
  },
  "the settlement of an attempt that was not answered": {
    tables: ["parked_receipts"],
    async run(_, { sms, claimOne, settle }) {
      await sms();
      await settle(await claimOne(), { outcomes: [UNANSWERED] });
    },
  },
  "a receipt that names a message by its reference": {
    tables: ["parked_receipts", "unconfirmed_parts"],
    async run(_, { sms, claimOne, settle, receive }) {
      const [id = ""] = await sms();
      await settle(await claimOne(), { outcomes: [UNANSWERED] });
      await receive("x", { reference: partReference(id, 0), recipient: "+919800000001" });
    },
  },
  "flagging a receipt that does not come": {
    tables: ["provider_ids"],
    async run(store, { sms, claimOne, settle, clock }) {
      await sms();
      await settle(await claimOne());
      clock.now += SECOND;
      expect(await store.receipts.flagOverdue({ now: clock.now, sentBefore: clock.now, limit: 10 })).toBe(1);
    },
  },
  "a stop word and a start word": {
    tables: ["opt_outs", "inbound_messages"],
    async run(store, world, accountId) {
      for (const text of ["STOP", "START"]) await store.inbound.receive([pieceOf(world, accountId, text)]);
    },
  },
  "pruning what a handset wrote": {
    tables: ["inbound_messages", "webhooks"],
    async run(store, world, accountId) {
      await store.inbound.receive([pieceOf(world, accountId, "hello")]);
      const bounds = { before: world.clock.now + 1, atLatest: 0, limit: 10 };
      expect(await store.retention.pruneInbound(bounds)).toBe(1);
    },
  },
  "registering and identifying a device": { tables: ["registrations"], run: identifyOne },
};

/** With the account that others will be of. */
async function openEmpty() {
  const { store, url } = await openFresh();
  const world = await createWorld(store);
  const accountId = world.account.id;
  await store.records.create("pushApps", { ...APP, accountId });
  return { store, url, accountId };
}

/** Others, which are all of the account, come to tables that were empty when the planner looked. */
async function openDrained() {
  const { store, url, accountId } = await openEmpty();
  const driver = openDriver({ url, connections: 1 });
  await fill(driver);
  // Pages, and no row in them: as tables are left when all has been done.
  for (const table of Object.keys(FILL).toReversed()) await driver.query(`DELETE FROM ${table}`);
  const tables = Object.keys(FILL).join(", ");
  await driver.hold((connection) => connection.exec(`VACUUM (ANALYZE, TRUNCATE false) ${tables}`));
  await fill(driver);
  // What it has read is not to be counted.
  await driver.close();
  return { store, url, accountId };
}

async function fill(driver: Driver): Promise<void> {
  for (const sql of Object.values(FILL)) await driver.query(sql, [OTHERS]);
}

/** Rows of the tables, and entries of their indexes, that were read. */
const READ = `SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid))::bigint AS read
  FROM pg_stat_user_tables t WHERE relname = ANY($1)`;

for (const [what, { tables, run }] of Object.entries(USES)) {
  test(`${what} reads no other rows, where there were none when the planner last looked`, async () => {
    const { store, url, accountId } = await openDrained();
    const driver = openDriver({ url, connections: 1 });
    await scansOf(driver, url, async (other) => {
      const world = await createWorld(other);
      for (let round = 0; round < ROUNDS; round++) await run(other, world, accountId);
    });
    expect(await readFrom(driver, tables)).toBeLessThan(MOST);
    await driver.close();
    await store.close();
  }, 120_000);

  test(`${what} reads no other rows, where there were none when its statements were planned`, async () => {
    const { store, url, accountId } = await openEmpty();
    const driver = openDriver({ url, connections: 1 });
    await scansOf(driver, url, async (other) => {
      const world = await createWorld(other);
      await run(other, world, accountId);
      await fill(driver);
      for (let round = 1; round < ROUNDS; round++) await run(other, world, accountId);
    });
    expect(await readFrom(driver, tables)).toBeLessThan(MOST);
    await driver.close();
    await store.close();
  }, 120_000);
}

async function readFrom(driver: Driver, tables: readonly string[]): Promise<number> {
  const [row] = await driver.query<{ read: number }>(READ, [tables]);
  return row?.read ?? 0;
}

test("no more messages from handsets go than was said, where there were none when the planner last looked", async () => {
  const { store } = await openDrained();
  const world = await createWorld(store);
  const { id: accountId } = world.account;
  await store.inbound.receive([1, 2, 3].map((count) => pieceOf(world, accountId, `message ${count}`)));
  await store.retention.pruneInbound({ before: world.clock.now + 1, atLatest: 0, limit: 1 });
  expect(await store.inbound.list({ accountId, limit: 5 })).toHaveLength(2);
  await store.close();
}, 120_000);
