/** Days of which more messages have just ended than can be copied. */
import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, DAY, HOUR, type World } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { openClosable } from "../database/transactions.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { createDays, daysWith } from "./days.ts";
import { createPruneMessages } from "./prune-messages.ts";

/** The most messages that can be copied to new tables. */
const MAX_KEPT = 2;

async function deliver({ sms, claim, settle, receive }: Omit<World, "inside">, count: number) {
  const ids = await sms({ to: Array.from({ length: count }, (_, at) => `+91${at}`) });
  for (const job of await claim(count)) await settle(job);
  for (const id of ids) await receive(`p-${id}`);
  return ids;
}

test("a day of which too much has just ended goes row by row, and whole once its quiet hours are over", async () => {
  const { store, inside, url } = await openFresh();
  const world = await createWorld(store);
  const { clock } = world;
  const driver = openDriver({ url, connections: 2 });
  const { database, within } = openClosable(driver, createSystemClock());
  const prune = createPruneMessages(database, { days: createDays(within), maxKept: MAX_KEPT });
  const gone = await deliver(world, 12);
  const betweenThem = clock.now + 1;
  clock.now += HOUR;
  const lately = await deliver(world, 6);
  const pruneAll = async (hours: number, quietSince: number) => {
    const before = clock.now + 2 * DAY + hours * HOUR;
    while ((await prune({ before, atLatest: 0, limit: 5, quietSince })) > 0);
  };
  for (const hours of [0, 1, 2]) {
    await pruneAll(hours, betweenThem);
    for (const id of gone) expect(await inside.countRows(id)).toBe(0);
    for (const id of lately) expect(await inside.countRows(id)).toBeGreaterThan(0);
  }
  await pruneAll(3, clock.now + 1);
  for (const table of ["messages", "contents"] as const) expect(await daysWith(driver, table)).toEqual([]);
  for (const id of lately) expect(await inside.countRows(id)).toBe(0);
  expect(await driver.query("SELECT 1 FROM old_days UNION ALL SELECT 1 FROM kept_messages")).toEqual([]);
  await driver.close();
  await store.close();
}, 120_000);
