import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { Account } from "../../../core/records/accounts.ts";
import { DAY, QUEUE, SMS } from "../../contract/world.contract.ts";
import type { Store } from "../../store.ts";
import { openDriver } from "../database/driver.ts";
import { type Race, race } from "../database/race.contract.ts";
import { openOther } from "../postgres-world.contract.ts";

/** Enough for one deadlock at least, where there can be any. */
const ACCOUNTS = 15;
const MESSAGES = 12;

test("the first messages of an account, beside others that refer to it, never wait for one another in a circle", () =>
  race(async (world) => {
    const stores = [await openOther(world.url), await openOther(world.url)] as const;
    for (let count = 0; count < ACCOUNTS; count++) await begin(world, await world.addAccount(), stores);
    // When their connections end, they have told what they counted.
    for (const store of stores) await store.close();
    const driver = openDriver({ url: world.url, connections: 1 });
    const sql = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    expect(await driver.query(sql)).toEqual([{ deadlocks: 0 }]);
    await driver.close();
  }));

async function begin(
  { clock, id }: Race,
  { id: accountId }: Account,
  stores: readonly [Store, Store],
): Promise<void> {
  const calls: Promise<unknown>[] = [];
  for (let count = 0; count < MESSAGES; count++) {
    const store = stores[count % 2 === 0 ? 0 : 1];
    const message = { id: id(), recipient: "+1", status: "queued" as const, parts: [] };
    const messages = [{ ...message, expiresAt: clock.now + DAY, jobs: [{ queue: QUEUE }] }];
    calls.push(store.intake.accept({ accountId, flow: "single", content: SMS, messages }));
    const contact = { id: id(), accountId, externalId: `user-${count}`, createdAt: clock.now };
    calls.push(store.records.create("contacts", contact));
    await setImmediate();
  }
  await Promise.all(calls);
}
