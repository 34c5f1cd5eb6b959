/** Days that a process has pruned by a wrong clock, which was set right before the walk over them had ended, or after it. */
import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, DAY, type World } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { openClosable } from "../database/transactions.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { createDays } from "./days.ts";
import { createPruneMessages } from "./prune-messages.ts";

async function onWorld(run: (world: World, url: string) => Promise<void>): Promise<void> {
  const { store, inside, url } = await openFresh();
  await run({ ...(await createWorld(store)), inside }, url);
  await store.close();
}

/** Prunes until nothing is left to do, as at this time. */
async function pruneAt({ store }: World, now: number): Promise<void> {
  while ((await store.retention.pruneMessages(boundsAt(now))) > 0);
}

function boundsAt(now: number) {
  return { before: now - 7 * DAY, atLatest: now - 16 * DAY, limit: 1 };
}

test("a walk that was a day's last one by a wrong clock deletes nothing unfinished once the clock is right", () =>
  onWorld(async (world) => {
    const { store, sms, clock, inside, status } = world;
    const ids = await sms({ to: Array.from({ length: 30 }, (_, at) => `+91${at}`) });
    // Examines some of them, and does not come to the end.
    await store.retention.pruneMessages(boundsAt(clock.now + 20 * DAY));
    await pruneAt(world, clock.now + 9 * DAY);
    for (const id of ids) expect(await status(id)).toBe("queued");
    await pruneAt(world, clock.now + 18 * DAY);
    for (const id of ids) expect(await inside.countRows(id)).toBe(0);
  }));

test("what another process accepts on a day that a wrong clock has pruned to its end goes on day 16 at the latest", () =>
  onWorld(async (world) => {
    const { store, sms, clock, inside, status } = world;
    const [before = ""] = await sms();
    await store.retention.pruneMessages(boundsAt(clock.now + 20 * DAY));
    const [id = ""] = await sms();
    await pruneAt(world, clock.now + 9 * DAY);
    expect(await status(id)).toBe("queued");
    await pruneAt(world, clock.now + 18 * DAY);
    for (const each of [before, id]) expect(await inside.countRows(each)).toBe(0);
  }));

test("a day that another process has dropped is made again by the first that accepts a message of it", () =>
  onWorld(async ({ sms, clock, status }, url) => {
    await sms();
    const driver = openDriver({ url, connections: 2 });
    const { database, within } = openClosable(driver, createSystemClock());
    const prune = createPruneMessages(database, { days: createDays(within) });
    while ((await prune(boundsAt(clock.now + 20 * DAY))) > 0);
    const [id = ""] = await sms();
    expect(await status(id)).toBe("queued");
    await driver.close();
  }));

test("of a day that goes row by row, and was walked over by a wrong clock, goes by the right one what has ended since", () =>
  onWorld(async ({ sms, claim, settle, receive, clock, inside }, url) => {
    const ids = await sms({ to: ["+911", "+912", "+913"] });
    const driver = openDriver({ url, connections: 2 });
    const { database, within } = openClosable(driver, createSystemClock());
    const prune = createPruneMessages(database, { days: createDays(within), maxKept: 2 });
    const pruneAll = async (now: number) => {
      while ((await prune({ before: now - 7 * DAY, atLatest: 0, limit: 5 })) > 0);
    };
    await pruneAll(clock.now + 400 * DAY);
    for (const job of await claim(3)) await settle(job);
    for (const id of ids) await receive(`p-${id}`);
    await pruneAll(clock.now + 9 * DAY);
    for (const id of ids.slice(1)) expect(await inside.countRows(id)).toBe(0);
    await driver.close();
  }));
