/** Messages that are pruned while others are still writing about them. */
import { expect, test } from "bun:test";
import { CONNECTOR, DAY, QUEUE, sent } from "../../contract/world.contract.ts";
import { openDriver } from "../database/driver.ts";
import { race } from "../database/race.contract.ts";

const LEFT = `SELECT 'webhook' AS kind FROM webhooks UNION ALL SELECT 'event' FROM new_events
  UNION ALL SELECT 'event' FROM events UNION ALL SELECT 'entry' FROM timeline UNION ALL SELECT 'message' FROM messages`;

/** A message stays for its webhooks. */
const END_WEBHOOKS = "UPDATE webhooks SET state = 'delivered'";

test("of a message that bounces just as it is pruned nothing is left, once its webhooks are delivered", () =>
  race(async (world) => {
    const { store, other, clock, url } = world;
    const driver = openDriver({ url });
    const parts = [{ status: "pending", address: "asha@x.test" }] as const;
    await world.email({ parts, jobs: [{ queue: QUEUE }], callbackUrl: "https://hooks.test/" });
    await world.settle(await world.claimOne(), { outcomes: [sent("p-1")] });
    const bounds = { before: clock.now + 2 * DAY, atLatest: 0, limit: 100 };
    const prune = async () => {
      while ((await other.retention.pruneMessages(bounds)) > 0);
    };
    // It is not over yet, and stays.
    await prune();
    await world.receive("p-1", { status: "delivered" });
    await driver.query(END_WEBHOOKS);
    const receipt = { connectorId: CONNECTOR, providerMessageId: "p-1", receivedAt: clock.now };
    const calls: Promise<unknown>[] = [];
    await world.whileHeld("webhooks", async (isWaiting) => {
      calls.push(store.receipts.record([{ ...receipt, status: "bounced" }]));
      await isWaiting(1);
      calls.push(prune());
      await isWaiting(2);
    });
    await Promise.all(calls);
    await driver.query(END_WEBHOOKS);
    await prune();
    expect(await driver.query(LEFT)).toEqual([]);
    await driver.close();
  }));
