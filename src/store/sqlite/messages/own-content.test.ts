import { expect, test } from "bun:test";
import { createWorld, SMS } from "../../contract/world.contract.ts";
import type { Driver } from "../database/driver.ts";
import { openWithDriver } from "../sqlite-world.contract.ts";

const LONG = { text: "a long word in confidence ".repeat(40) };

function countContents(driver: Driver): number {
  return driver.prepare("SELECT id FROM contents").all().length;
}

test("the content of one message is in its row, and goes with it", async () => {
  const { store, driver, inside } = await openWithDriver(":memory:");
  const { sms, claimOne, settle, message, clock } = await createWorld(store);
  const [id = ""] = await sms();
  expect(countContents(driver)).toBe(0);
  const job = await claimOne();
  expect(job.content).toEqual(SMS);
  await settle(job);
  expect(inside.hasBody(id)).toBe(false);
  const { text: _wiped, ...shown } = SMS as typeof SMS & { text: string };
  expect((await message(id)).content).toEqual(shown as typeof SMS);
  clock.now += 1_000;
  await store.retention.pruneMessages({ before: clock.now, atLatest: clock.now, limit: 10 });
  expect(inside.countRows(id)).toBe(0);
  await store.close();
});

test("a content that is long, shared or older has a row of its own, and is handed out and wiped the same", async () => {
  const { store, driver, inside } = await openWithDriver(":memory:");
  const { sms, claim, settle, message } = await createWorld(store);
  const [long = ""] = await sms({ content: LONG });
  const batch = await sms({ to: ["+911", "+912"] });
  const [older = ""] = await sms();
  // As it was stored before contents were in the rows of their messages.
  driver.exec(`INSERT INTO contents (id, envelope, body, messages, first_message_id, last_message_id)
    SELECT 1000, envelope, body, 1, id, id FROM messages WHERE id = '${older}'`);
  driver.exec(`UPDATE messages SET content = 1000, envelope = NULL, body = NULL WHERE id = '${older}'`);
  expect(countContents(driver)).toBe(3);
  const jobs = await claim();
  const contentOf = (id = "") => jobs.find(({ messageId }) => messageId === id)?.content;
  expect(contentOf(long)).toEqual({ ...SMS, ...LONG } as typeof SMS);
  expect([...batch, older].map(contentOf)).toEqual([SMS, SMS, SMS]);
  for (const job of jobs) await settle(job);
  await store.retention.wipeContents(0, 10);
  for (const id of [long, ...batch, older]) {
    expect(inside.hasBody(id)).toBe(false);
    expect((await message(id)).content).toMatchObject({ templateId: "t-1" });
  }
  await store.close();
});
