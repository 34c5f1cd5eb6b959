import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import type { Driver } from "../database/driver.ts";
import migration from "../migrations/0012_jobs_of_message.sql" with { type: "text" };
import { openWithDriver } from "../sqlite-world.contract.ts";

function jobsLeft(driver: Driver): readonly string[] {
  return driver
    .prepare<{ message_id: string }>("SELECT message_id FROM jobs ORDER BY id")
    .all()
    .map((row) => row.message_id);
}

test("a message's jobs end with it, and not those of another that have numbers between them", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { email, account, clock } = await createWorld(store);
  const parts = [1, 2].map((n) => ({ status: "pending", address: `a${n}@x.test` }) as const);
  const jobs = [
    { queue: "mail", parts: [0] },
    { queue: "mail", parts: [1] },
  ];
  const one = await email({ parts, jobs });
  const other = await email({ parts, jobs });
  // As two threads number them, which take turns.
  driver.exec("UPDATE jobs SET id = CASE id WHEN 2 THEN 30 WHEN 3 THEN 20 ELSE id END");
  driver.exec(`UPDATE messages SET first_job = 1, last_job = 30 WHERE id = '${one}'`);
  driver.exec(`UPDATE messages SET first_job = 4, last_job = 20 WHERE id = '${other}'`);
  const cancel = { accountId: account.id, channel: "email", id: one, now: clock.now } as const;
  expect(await store.messages.cancel(cancel)).toBe("canceled");
  expect(jobsLeft(driver)).toEqual([other, other]);
  await store.close();
});

test("messages that were stored before they named their jobs are given the names", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, account, clock } = await createWorld(store);
  const [one = "", other = ""] = await sms({ to: ["+911", "+912"] });
  driver.exec("UPDATE messages SET first_job = NULL, last_job = NULL");
  driver.exec(/^UPDATE[^;]+;/m.exec(migration)?.[0] ?? "");
  const cancel = { accountId: account.id, channel: "sms", id: one, now: clock.now } as const;
  expect(await store.messages.cancel(cancel)).toBe("canceled");
  expect(jobsLeft(driver)).toEqual([other]);
  await store.close();
});

test("a job that has lost its message is dropped when its turn comes, and no other", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const { sms, claim } = await createWorld(store);
  const [lost = "", kept = "", later = ""] = await sms({ to: ["+911", "+912", "+913"] });
  driver.prepare("DELETE FROM messages WHERE id = ?").run(lost);
  expect((await claim(2)).map(({ messageId }) => messageId)).toEqual([kept]);
  expect(jobsLeft(driver)).toEqual([kept, later]);
  await store.close();
});
