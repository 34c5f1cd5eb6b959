import { expect, test } from "bun:test";
import { createWorld, DAY } from "../contract/world.contract.ts";
import { openInMemory, openWithDriver } from "./sqlite-world.contract.ts";

test("one call deletes a hundred messages at most, whatever is asked for, so that others do not wait", async () => {
  const { store } = await openInMemory();
  const { sms, claim, settle, receive, clock } = await createWorld(store);
  await sms({ to: Array.from({ length: 150 }, (_, index) => `+91${index}`) });
  for (const job of await claim(150)) {
    await settle(job);
    await receive(`p-${job.messageId}`);
  }
  const bounds = { before: clock.now + 1_000, atLatest: 0, limit: 500 };
  expect(await store.retention.pruneMessages(bounds)).toBe(100);
  expect(await store.retention.pruneMessages(bounds)).toBe(50);
  await store.close();
});

test("a walk that a full disk cut off goes on with what it could not delete", async () => {
  let isFull = false;
  const beforeCommit = () => {
    if (isFull) throw new Error("database or disk is full");
  };
  const { store } = await openInMemory({ faults: { beforeCommit } });
  const { sms, claim, settle, receive, clock } = await createWorld(store);
  const ids = await sms({ to: ["+911", "+912"] });
  for (const job of await claim(2)) await settle(job);
  for (const id of ids) await receive(`p-${id}`);
  const bounds = { before: clock.now + 1_000, atLatest: 0, limit: 10 };
  isFull = true;
  expect(await store.retention.pruneMessages(bounds).catch(() => "failed")).toBe("failed");
  isFull = false;
  expect(await store.retention.pruneMessages(bounds)).toBe(2);
  await store.close();
});

for (const atLatest of ["never", "now"] as const) {
  test(`a message that cannot be deleted keeps no other, and goes once it can be (deleted unfinished: ${atLatest})`, async () => {
    const { store, driver } = await openWithDriver(":memory:");
    const { sms, claim, settle, receive, clock } = await createWorld(store);
    const ids = await sms({ to: ["+1415555010", "+1415555011", "+1415555012", "+1415555013"] });
    for (const job of await claim(4)) await settle(job);
    for (const id of ids) await receive(`p-${id}`);
    const [, bad = ""] = ids;
    driver.exec(`CREATE TRIGGER refuse BEFORE DELETE ON messages WHEN OLD.id = '${bad}'
      BEGIN SELECT RAISE(ABORT, 'damaged'); END`);
    const told: string[] = [];
    const prune = async (before: number) => {
      const bounds = { before, atLatest: atLatest === "now" ? before : 0, limit: 10 };
      let sum = 0;
      for (let calls = 0; calls < 9; calls++)
        sum += await store.retention.pruneMessages(bounds).catch((error: Error) => {
          told.push(error.message);
          return 0;
        });
      return sum;
    };
    expect(await prune(clock.now + 1_000)).toBeGreaterThanOrEqual(3);
    expect(driver.prepare("SELECT id FROM messages").all()).toEqual([{ id: bad }]);
    expect(told).toEqual([`message ${bad}, put off for 3600 s: damaged`]);
    driver.exec("DROP TRIGGER refuse");
    await prune(clock.now + DAY);
    expect(driver.prepare("SELECT id FROM messages").all()).toEqual([]);
    await store.close();
  });
}

test("hundreds of messages that cannot be deleted keep no others, though only a few are passed over in a minute", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, clock } = await createWorld(store);
  const ids = await sms({ to: Array.from({ length: 400 }, (_, index) => `+91${index}`) });
  driver.exec(`CREATE TRIGGER refuse BEFORE DELETE ON messages WHEN OLD.id < '${ids[300]}'
    BEGIN SELECT RAISE(ABORT, 'damaged'); END`);
  const left = () => driver.prepare("SELECT id FROM messages").all().length;
  for (let minute = 0; minute < 30 && left() > 300; minute++) {
    const before = clock.now + DAY + minute * 60_000;
    for (let failed = 0; failed < 20; )
      if ((await store.retention.pruneMessages({ before, atLatest: before, limit: 500 }).catch(() => -1)) < 0)
        failed++;
      else if (left() === 300) break;
  }
  expect(left()).toBe(300);
  await store.close();
});

test("a walk past many unfinished messages comes to its end, however long it takes", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, clock } = await createWorld(store);
  await sms({ to: Array.from({ length: 30 }, (_, index) => `+91${index}`) });
  const [last = ""] = await sms();
  driver.exec(`UPDATE messages SET status = 'delivered' WHERE id = '${last}'`);
  const isThere = () => driver.prepare("SELECT 1 FROM messages WHERE id = ?").all(last).length > 0;
  let before = clock.now + 1_000;
  for (let calls = 0; calls < 9 && isThere(); calls++) {
    await store.retention.pruneMessages({ before, atLatest: 0, limit: 1 });
    before += DAY;
  }
  expect(isThere()).toBe(false);
  await store.close();
});

test("a clock that is set back does not keep the next walk waiting until it has come that far again", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, clock } = await createWorld(store);
  await sms();
  const prune = (before: number) => store.retention.pruneMessages({ before, atLatest: 0, limit: 10 });
  expect(await prune(clock.now + 365 * DAY)).toBe(0);
  driver.exec("UPDATE messages SET status = 'delivered'");
  expect(await prune(clock.now + 1_000)).toBe(1);
  await store.close();
});

test("wiping the texts of batches that are over reads a few thousand messages in one call, and then goes on", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms } = await createWorld(store);
  const to = Array.from({ length: 1_000 }, (_, index) => `+91${index}`);
  for (let batch = 0; batch < 5; batch++) await sms({ to });
  driver.exec("UPDATE messages SET status = 'delivered'; DELETE FROM jobs");
  const [under = ""] = await sms({ to });
  expect(await store.retention.wipeContents(0, 500)).toBe(3);
  expect(await store.retention.wipeContents(0, 500)).toBe(2);
  expect(await store.retention.wipeContents(0, 500)).toBe(0);
  driver.exec(`UPDATE messages SET status = 'delivered' WHERE id >= '${under}'`);
  expect(await store.retention.wipeContents(0, 500)).toBe(1);
  await store.close();
});

test("what was tried of a message's webhooks goes with it", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, settle, claimOne, receive, account, clock } = await createWorld(store);
  const [id = ""] = await sms({ content: { callbackUrl: "https://a.test/" } });
  await settle(await claimOne());
  await receive(`p-${id}`);
  const lane = { accountId: account.id, host: "a.test" };
  const claimed = await store.outbox.claim({ lanes: [{ lane, limit: 1 }], now: clock.now, leaseMs: 1_000 });
  const attempt = { at: clock.now, ms: 1, status: 500, head: "what the receiver said" };
  const verdict = { kind: "again", at: clock.now + 5_000 } as const;
  await store.outbox.settle(claimed.map((event) => ({ ...event, verdict, attempt })));
  const tried = () => driver.prepare("SELECT number FROM webhook_attempts").all().length;
  expect(tried()).toBe(1);
  driver.exec("UPDATE webhooks SET state = 'failed', due_at = NULL");
  const bounds = { before: clock.now + 8 * DAY, atLatest: 0, limit: 10 };
  expect(await store.retention.pruneMessages(bounds)).toBe(1);
  expect(tried()).toBe(0);
  await store.close();
});
