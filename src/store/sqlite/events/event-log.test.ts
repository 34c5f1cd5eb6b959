import { expect, test } from "bun:test";
import { createWorld } from "../../contract/world.contract.ts";
import { createDatabase } from "../database/database.ts";
import { createAccountCache } from "../records/account-cache.ts";
import { openWithDriver } from "../sqlite-world.contract.ts";
import { createEventLog } from "./event-log.ts";

const RECEIVED = { kind: "other", id: "evt_in_1", type: "sms.received", data: { text: "STOP" } } as const;

test("an event about no message of ours stands in the feed between the others", async () => {
  const { store, driver } = await openWithDriver(":memory:");
  const world = await createWorld(store);
  const { account, clock } = world;
  const db = createDatabase({ driver, schedule: setImmediate });
  const accounts = createAccountCache(db);
  const events = createEventLog(db, accounts);
  const send = async () => {
    await world.sms();
    await world.settle(await world.claimOne());
  };
  const read = async () => {
    const page = await store.feed.read({ accountId: account.id, after: 0, limit: 10 });
    return page.events.map((event) => (event.kind === "other" ? event : event.entry.eventType));
  };
  const number = accounts.byId(account.id)!.number;
  const received = { ...RECEIVED, at: clock.now };
  await send();
  await db.write(() => events.addOther(number, received));
  await send();
  expect(await read()).toEqual(["sms.sent", received, "sms.sent"]);
  await store.close();
});
