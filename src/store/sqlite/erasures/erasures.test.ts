import { expect, test } from "bun:test";
import { inflateRawSync } from "node:zlib";
import { createWorld, sent } from "../../contract/world.contract.ts";
import type { Driver } from "../database/driver.ts";
import { openWithDriver } from "../sqlite-world.contract.ts";

const NUMBER = "+919812345678";
const ADDRESS = "asha@x.test";

test("after an erasure no table holds the number or the address", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const world = await createWorld(store);
  const { id, account, clock, sms, claim, settle, receive } = world;
  const to = [NUMBER, ...Array.from({ length: 99 }, (_, index) => `+9198000000${index + 10}`)];
  const answers = to.map((each) => `{"message_id":"${id()}","status":"queued","to":"${each}"}`);
  const answer = { status: 202, body: `{"messages":[${answers.join(",")}]}` };
  await sms({ to, idempotency: { ...world.key("k"), answer } });
  for (const job of await claim(2)) await settle(job);
  await receive("unknown", { recipient: NUMBER.slice(1) });
  const email = async (addresses: readonly string[]) =>
    world.email({
      parts: addresses.map((address) => ({ status: "pending", address }) as const),
      jobs: [{ queue: "mail" }],
    });
  const shared = await email([ADDRESS.toUpperCase(), "ravi@x.test"]);
  await email([ADDRESS]);
  const error = { code: "smtp.550", message: `no <${ADDRESS}> here` };
  for (const job of await claim(2, "mail")) {
    await settle(job, { outcomes: [{ kind: "rejected", bounced: true, error }, sent("p-2")] });
  }
  const entry = {
    accountId: account.id,
    messageId: shared,
    channel: "email",
    receivedAt: clock.now,
  } as const;
  await store.sandbox.record([
    { ...entry, id: id(), to: ADDRESS, rendered: { source: `To: ${ADDRESS}, ravi@x.test` } },
    { ...entry, id: id(), to: "ravi@x.test", rendered: { source: `To: ${ADDRESS}, ravi@x.test` } },
    { ...entry, id: id(), to: NUMBER, messageId: id(), channel: "sms", rendered: { text: "hi" } },
  ]);
  fillTheRest(driver, { accountId: account.id, id: id(), at: clock.now });
  expect(holders(driver, NUMBER.slice(1))).toEqual([
    "events",
    "idempotency_keys",
    "inbound_messages",
    "inbound_parts",
    "messages",
    "opt_outs",
    "parked_receipts",
    "sandbox_messages",
    "sms_usage",
    "webhook_attempts",
  ]);
  expect(holders(driver, ADDRESS)).toEqual([
    "contents",
    "messages",
    "sandbox_messages",
    "soft_bounces",
    "suppressions",
    "timeline",
  ]);
  for (const recipient of [NUMBER, ADDRESS]) {
    await store.erasures.create({ id: id(), recipient, salt: "s", digest: "d", createdAt: clock.now });
  }
  while ((await store.erasures.advance(clock.now, 10)) > 0);
  expect(holders(driver, NUMBER.slice(1))).toEqual([]);
  expect(holders(driver, ADDRESS)).toEqual([]);
  expect(await store.sandbox.list({ limit: 10 })).toHaveLength(2);
  await store.close();
});

test("a stretch erases fifty messages at most, so that others do not wait", async () => {
  const { store } = await openWithDriver(":memory:");
  const { sms, clock, id } = await createWorld(store);
  await sms({ to: Array<string>(120).fill(NUMBER) });
  await store.erasures.create({ id: id(), recipient: NUMBER, salt: "s", digest: "d", createdAt: clock.now });
  const counts = [];
  while ((await store.erasures.advance(clock.now, 2_000)) > 0)
    counts.push((await store.erasures.list({ limit: 1 }))[0]?.erased);
  expect([...new Set(counts)]).toEqual([0, 50, 100, 120]);
  await store.close();
});

test("counts and suppressions are erased in a few accounts at a time, and in all in the end", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { id, clock, addAccount } = await createWorld(store);
  for (let count = 0; count < 10; count++) await addAccount();
  driver.exec(`
    INSERT INTO sms_usage SELECT number, '${ADDRESS}', 1, 1, 1 FROM accounts;
    INSERT INTO soft_bounces SELECT id, '${ADDRESS}', 1, 1 FROM accounts;
    INSERT INTO suppressions (id, account_id, email, reason, created_at)
      SELECT id, id, '${ADDRESS}', 'manual', 1 FROM accounts`);
  const left = driver.prepare<Readonly<Record<string, number>>>(
    `SELECT (SELECT count(*) FROM sms_usage) AS usage, (SELECT count(*) FROM soft_bounces) AS soft,
       (SELECT count(*) FROM suppressions WHERE email = '${ADDRESS}') AS suppressions`,
  );
  const counts = () => Object.values(left.get() ?? {});
  await store.erasures.create({ id: id(), recipient: ADDRESS, salt: "s", digest: "d", createdAt: clock.now });
  const erased: number[] = [];
  for (let before = counts(); (await store.erasures.advance(clock.now, 20)) > 0; before = counts()) {
    const now = counts();
    erased.push(...before.map((count, table) => count - (now[table] ?? 0)));
  }
  expect(counts()).toEqual([0, 0, 0]);
  expect(Math.max(...erased)).toBeLessThan(4);
  await store.close();
});

/** What no test of the contract comes by easily. */
function fillTheRest(
  driver: Driver,
  { accountId, id, at }: { accountId: string; id: string; at: number },
): void {
  const rows: readonly (readonly [string, Record<string, string | number>])[] = [
    ["sms_usage", { account: 1, recipient: NUMBER, hour: 1, messages: 1, segments: 1 }],
    ["soft_bounces", { account_id: accountId, email: ADDRESS, days: 1, last_day: 1 }],
    ["events", { account: 1, at, id: "evt_1", type: "sms.received", data: JSON.stringify({ from: NUMBER }) }],
    ["inbound_messages", { id, account_id: accountId, is_partial: 0, ...inbound(at) }],
    ["webhooks", { id: 900, message_id: id, sequence: 1, position: 0, account: 1, ...webhook(at) }],
    ["webhook_attempts", { webhook: 900, number: 1, at, ms: 1, head: `thanks, ${NUMBER}` }],
    ["opt_outs", { id, account_id: accountId, ...wish(at), recipient: NUMBER }],
    ["inbound_parts", { reference: 1, total: 2, number: 1, id, ...inbound(at) }],
  ];
  for (const [table, row] of rows) {
    const known = driver.prepare<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).all();
    const columns = Object.keys(row).filter((column) => known.some(({ name }) => name === column));
    const marks = columns.map(() => "?").join(", ");
    driver
      .prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`)
      .run(...columns.map((column) => row[column]!));
  }
}

function webhook(at: number) {
  return { lane: "1 x.test", event_type: "sms.received", state: "failed", at };
}

function wish(at: number) {
  return { reason: "manual", created_at: at };
}

function inbound(at: number) {
  return {
    connector_id: "c",
    provider_key: "k",
    sender: NUMBER,
    recipient: "ACME",
    text: "STOP",
    segments: 1,
    encoding: "gsm7",
    received_at: at,
  };
}

/** Tables with a row that holds the text, in any case. */
function holders(driver: Driver, text: string): readonly string[] {
  const tables = driver
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
    .all();
  return tables.flatMap(({ name }) => {
    const rows = driver.prepare<Record<string, unknown>>(`SELECT * FROM ${name}`).all();
    const isHeld = rows.some((row) => Object.values(row).some((value) => readable(value).includes(text)));
    return isHeld ? [name] : [];
  });
}

function readable(value: unknown): string {
  if (!(value instanceof Uint8Array)) return String(value).toLowerCase();
  try {
    return inflateRawSync(value).toString("utf8").toLowerCase();
  } catch {
    return Buffer.from(value).toString("utf8").toLowerCase();
  }
}
