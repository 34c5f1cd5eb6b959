import { expect, test } from "bun:test";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { createWorld, DAY, numberAll } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { openClosable } from "../database/transactions.ts";
import { openFresh } from "../postgres-world.contract.ts";
import { createDays, daysWith } from "./days.ts";
import { createPruneMessages } from "./prune-messages.ts";

test.each([2, 20])(
  "a day's inbound messages that are still told keep their events and webhooks, also where only %p may be copied, and go at the latest",
  async (maxKept) => {
    const { store, url, inside } = await openFresh();
    const world = await createWorld(store);
    const { account, clock, id, sms, claim, settle, receive } = world;
    await store.records.setSettings(account.id, { inbound_url: "https://hooks.acme.test/" });
    const ours = await sms({ to: ["+911", "+912"] });
    for (const job of await claim(2)) await settle(job);
    for (const each of ours) await receive(`p-${each}`);
    const at = { receivedAt: clock.now, sameSince: clock.now, accountId: account.id, connectorId: "c" };
    const text = { from: "+919812345678", to: "56161", text: "hi", encoding: "gsm7", segments: 1 } as const;
    const told = Array.from({ length: 5 }, () => id());
    await store.inbound.receive(told.map((each) => ({ ...at, ...text, id: each, key: each })));
    await numberAll(world);

    const driver = openDriver({ url, connections: 2 });
    const { database, within } = openClosable(driver, createSystemClock());
    const by = createPruneMessages(database, { days: createDays(within), maxKept });
    const prune = async (before: number, atLatest: number) => {
      while ((await by({ before, atLatest, limit: 5 })) > 0);
      while ((await store.retention.pruneInbound({ before, atLatest, limit: 5 })) > 0);
      const { events } = await store.feed.read({ accountId: account.id, after: 0, limit: 20 });
      return [events.length, ...(await Promise.all(told.map((each) => store.outbox.ofMessage(each)))).flat()];
    };
    const before = clock.now + 2 * DAY;
    expect(await prune(before, 0)).toHaveLength(1 + told.length);
    expect((await prune(before, 0))[0]).toBe(told.length);
    for (const each of ours) expect(await inside.countRows(each)).toBe(0);
    expect(await prune(before + 2 * DAY, before)).toEqual([0]);
    expect(await daysWith(driver, "events")).toEqual([]);
    await driver.close();
    await store.close();
  },
  120_000,
);
