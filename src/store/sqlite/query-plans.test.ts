import { expect, test } from "bun:test";
import { createWorld } from "../contract/world.contract.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { openOn } from "./open-sqlite.ts";
import { VAULT } from "./sqlite-world.contract.ts";

/** A driver that remembers every statement it has prepared, and how often it ran since `reset`. */
function createListeningDriver() {
  const driver = openDriver(":memory:");
  const runs = new Map<string, number>();
  const counted = <T>(sql: string, run: () => T): T => {
    runs.set(sql, (runs.get(sql) ?? 0) + 1);
    return run();
  };
  const listening: Driver = {
    ...driver,
    prepare<Row>(sql: string) {
      const statement = driver.prepare<Row>(sql);
      if (!runs.has(sql)) runs.set(sql, 0);
      return {
        get: (...values) => counted(sql, () => statement.get(...values)),
        all: (...values) => counted(sql, () => statement.all(...values)),
        run: (...values) => counted(sql, () => statement.run(...values)),
        insert: (...values) => counted(sql, () => statement.insert(...values)),
      };
    },
  };
  return {
    driver: listening,
    statements: () => [...runs.keys()],
    reset: () => runs.clear(),
    total: () => [...runs.values()].reduce((sum, count) => sum + count, 0),
    plan: (sql: string) => {
      const numbered = (sql.match(/(?<=\?)\d+/g) ?? []).map(Number);
      const marks = Math.max(0, (sql.match(/\?(?!\d)/g) ?? []).length, ...numbered);
      const steps = driver.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`);
      return steps.all(...Array<null>(marks).fill(null)).map((step) => step.detail);
    },
  };
}

/** Small tables that are read whole on purpose. */
const READ_WHOLE =
  /^SCAN (inbound_parts|json_each|migrations|queues|accounts|routes|sqlite_schema|sqlite_sequence|used)\b/;

/** Walks along an index, as far as its LIMIT. */
const WALKS =
  /^SCAN (p USING COVERING INDEX content_pieces_in_order|idempotency_keys|erasures USING INDEX erasures_under_way|parked_receipts|settings USING INDEX settings_of_instance|sandbox_messages USING (COVERING )?INDEX|\(subquery|CONSTANT ROW)/;

test("every statement of the store fits the schema, also one that seldom runs", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  expect(ears.statements().length).toBeGreaterThan(200);
  for (const sql of ears.statements()) expect(() => ears.plan(sql)).not.toThrow();
  await store.close();
});

test("no statement of the store walks through a table that grows, and none sorts one", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const bad = ears.statements().flatMap((sql) => {
    if (!/^\s*(SELECT|UPDATE|DELETE)/.test(sql)) return [];
    const steps = ears.plan(sql).filter((step) => /^SCAN|TEMP B-TREE/.test(step));
    return steps
      .filter((step) => !READ_WHOLE.test(step) && !WALKS.test(step))
      .map((step) => `${step}: ${sql}`);
  });
  expect(bad).toEqual([]);
  expect(ears.statements().length).toBeGreaterThan(200);
  await store.close();
});

test("claiming costs the same statements whatever waits behind", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { sms, claim } = await createWorld(store);
  const costOfClaim = async () => {
    ears.reset();
    expect(await claim(10)).toHaveLength(10);
    return ears.total();
  };
  const to = Array.from({ length: 1_000 }, (_, index) => `+91${index}`);
  await sms({ to: to.slice(0, 20) });
  const before = await costOfClaim();
  for (let i = 0; i < 20; i++) await sms({ to });
  expect(await costOfClaim()).toBeLessThanOrEqual(before);
  await store.close();
});

test("claiming steps over the jobs of a flow through the index, without a look at them", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { sms, claim } = await createWorld(store);
  await sms({ to: ["+911", "+912"] });
  ears.reset();
  await claim(2);
  const onJobs = ears.statements().filter((sql) => /FROM jobs/.test(sql));
  const plans = onJobs.map((sql) => ears.plan(sql).join("; "));
  expect(plans).toContain("SEARCH jobs USING INDEX jobs_ready (queue=? AND flow>?)");
  const withMessages = "SEARCH messages USING PRIMARY KEY (id=?) LEFT-JOIN";
  expect(plans).toContain(`SEARCH jobs USING INDEX jobs_ready (queue=? AND flow=?); ${withMessages}`);
  await store.close();
});

test("lists step down the account's index, and read nothing else of the messages they pass over", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account } = await createWorld(store);
  ears.reset();
  for (const channel of ["sms", "email"] as const) {
    for (const filter of [{}, { recipient: "x" }, { status: "sent", tag: "t" }] as const) {
      await store.messages.list({ accountId: account.id, channel, limit: 5, createdFrom: 0, ...filter });
    }
  }
  const onMessages = ears.statements().filter((sql) => /FROM messages/.test(sql));
  expect(onMessages.length).toBeGreaterThan(3);
  for (const sql of onMessages) {
    const [walk = "", ...rest] = ears.plan(sql);
    expect(walk).toMatch(/SEARCH \w+ USING COVERING INDEX messages_of_account/);
    for (const step of rest)
      expect(step).toMatch(/SEARCH (m|jobs) USING (INTEGER )?PRIMARY KEY|SCALAR SUBQUERY/);
  }
  await store.close();
});

test("lists that may begin at either end walk along an index from both", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account } = await createWorld(store);
  ears.reset();
  for (const order of ["oldest", "newest"] as const) {
    const page = { order, limit: 5 };
    for (const filter of [{}, { state: "failed" }] as const)
      await store.outbox.list({ accountId: account.id, ...filter }, page);
    for (const filter of [{}, { accountId: account.id }, { messageId: "m" }])
      await store.sandbox.list({ ...page, ...filter });
    for (const filter of [{}, { connectorId: "c" }]) await store.receipts.parked({ ...page, ...filter });
    await store.erasures.list(page);
  }
  const walks = ears
    .statements()
    .filter((sql) => /FROM (webhooks|sandbox_messages|parked_receipts|erasures) /.test(sql));
  const plans = walks.map((sql) => ears.plan(sql).join("; "));
  const INDEX =
    /^SEARCH \w+ USING (INTEGER PRIMARY KEY|(COVERING )?INDEX (webhooks_by_time|webhooks_failed|sqlite_autoindex_sandbox_messages_1|sandbox_messages_of_message|parked_receipts_of_connector|sqlite_autoindex_erasures_1)) \([^;]+\)(; CORRELATED SCALAR SUBQUERY 1; SEARCH meta USING PRIMARY KEY \(name=\?\))?$/;
  expect(plans.filter((plan) => !INDEX.test(plan))).toEqual([]);
  expect(walks.filter((sql) => sql.includes("DESC")).length * 2).toBe(walks.length);
  await store.close();
});

test("searches for records by what is unique among them are answered by an index", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account } = await createWorld(store);
  const accountId = account.id;
  ears.reset();
  const page = { limit: 5 };
  await store.records.list("smsTemplates", { accountId, dltTemplateId: "1" }, page);
  await store.records.list("dltEntities", { accountId, entityId: "1" }, page);
  await store.records.list("domains", { accountId, domain: "x.test" }, page);
  await store.records.list("contacts", { accountId, externalId: "1" }, page);
  await store.records.list("suppressions", { accountId, email: "a@x.test" }, page);
  await store.records.list("optOuts", { accountId, sender: "ACME", recipient: "+911" }, page);
  await store.records.list("optOuts", { accountId, recipient: "+911" }, page);
  await store.records.list("inboundNumbers", { connectorId: "c" }, page);
  const searches = ears.statements().filter((sql) => /ORDER BY \+?id/.test(sql));
  const plans = searches.map((sql) => ears.plan(sql)[0] ?? "");
  expect(plans.filter((plan) => !/account_id=\? AND \w+=\?|connector_id=\?/.test(plan))).toEqual([]);
  expect(plans).toHaveLength(8);
  await store.close();
});

test("a new opt-out is compared with the erased ones by an index, however many there are", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account, clock, id } = await createWorld(store);
  const optOut = { accountId: account.id, recipient: "+911", reason: "r", createdAt: clock.now };
  await store.records.create("optOuts", { ...optOut, id: id() });
  await store.erasures.create({ id: id(), recipient: "+911", salt: "s", digest: "d", createdAt: clock.now });
  while ((await store.erasures.advance(clock.now, 100)) > 0);
  ears.reset();
  expect(await store.records.create("optOuts", { ...optOut, id: id() })).toEqual({ conflict: "recipient" });
  expect(await store.records.create("optOuts", { ...optOut, sender: "ACME", id: id() })).toBe("created");
  const looks = ears.statements().filter((sql) => /FROM opt_outs/.test(sql));
  expect(looks.length).toBeGreaterThanOrEqual(2);
  for (const sql of looks) expect(ears.plan(sql).join()).toMatch(/INDEX opt_outs_of_(all_senders|sender) /);
  await store.close();
});

test("an account that has records, or an app that has devices, is not deleted first, to find that out", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account, id } = await createWorld(store);
  const app = { id: id(), accountId: account.id, name: "app", platforms: ["fcm"], createdAt: 0 } as const;
  await store.records.create("pushApps", app);
  const answer = { status: 201, body: "{registration_id}" };
  const device = { registrationId: id(), contactId: id(), accountId: account.id, appId: app.id, answer };
  await store.push.register({ ...device, platform: "fcm", token: "t", now: 0 });
  ears.reset();
  expect(await store.records.remove("accounts", account.id)).toBe("in_use");
  expect(await store.records.remove("pushApps", app.id)).toBe("in_use");
  expect(ears.statements().filter((sql) => sql.startsWith("DELETE"))).toEqual([]);
  await store.close();
});

test("claiming webhooks costs the same statements whatever waits for other hosts", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const { account, clock, sms, claim, settle } = await createWorld(store);
  const eventsTo = async (host: string, count: number) => {
    const to = Array.from({ length: count }, (_, index) => `+91${index}`);
    await sms({ to, content: { callbackUrl: `https://${host}/` } });
    for (const job of await claim(count)) await settle(job);
  };
  const costOfClaim = async () => {
    ears.reset();
    const lanes = [{ lane: { accountId: account.id, host: "well.test" }, limit: 5 }];
    expect(await store.outbox.claim({ lanes, now: clock.now, leaseMs: 60_000 })).toHaveLength(5);
    return ears.total();
  };
  await eventsTo("well.test", 20);
  const before = await costOfClaim();
  for (let host = 0; host < 50; host++) await eventsTo(`dead-${host}.test`, 20);
  expect(await costOfClaim()).toBeLessThanOrEqual(before);
  await store.close();
});

test("no index of messages holds their status, which changes most of all", async () => {
  const driver = openDriver(":memory:");
  const store = await openOn(driver, { vault: VAULT });
  const indexes = driver
    .prepare<{ sql: string }>(
      "SELECT sql FROM sqlite_schema WHERE tbl_name = 'messages' AND type = 'index' AND sql IS NOT NULL",
    )
    .all();
  expect(indexes.length).toBeGreaterThan(0);
  for (const { sql } of indexes) expect(sql).not.toContain("status");
  await store.close();
});

test("an erasure reads the opt-outs of its stretch alone, and none that lie behind", async () => {
  const ears = createListeningDriver();
  const store = await openOn(ears.driver, { vault: VAULT });
  const [sql = ""] = ears.statements().filter((each) => /^SELECT id, reason FROM opt_outs/.test(each));
  expect(ears.plan(sql).join()).toContain("(id>? AND id<?)");
  await store.close();
});
