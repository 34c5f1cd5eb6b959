/** A message waits in the queue of the only connector that may send it, and what becomes of it there depends on its route too. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import type { HeldPostrider } from "../held-postrider.ts";
import { LONG, takeInPart, waitInQueueOfFirst } from "../owned-message.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

const NUMBER = "+14155550712";
const OTHER = "+447700900712";

onBothStores(() => {
  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  let otherRoute: string;

  async function open(config: Record<string, unknown>, body?: string): Promise<TwoSmscs> {
    two = await openTwoSmscs(() => ({}), { window: 1, ...config }, body);
    otherRoute = await two.addRoute(([first]) => ({ match: "44", connector_ids: [first] }));
    return two;
  }

  test("a message in a connector's own queue is sent once that has a slot, though all those of its route are down", async () => {
    const { first, second, live, postrider } = await open({ response_timeout_ms: 120_000 }, LONG);
    const message = await takeInPart(first, () => live.send(NUMBER));
    await postrider.reached(message, "queued");
    await waitInQueueOfFirst(two!, message, OTHER);
    second.dial.hangUp = true;
    second.dropAll();
    await two!.is(second, "down");
    // Once a minute, its process looks whether it waits where it should.
    for (let seconds = 0; seconds < 70; seconds++) await postrider.pass(1_000);
    first.dial.holdSubmits = false;
    first.release();
    expect(await postrider.reached({ ...message, withinMs: 20_000 }, "delivered")).toBe("delivered");
  });

  test("a message in a connector's own queue goes over another one once its route lets others try", async () => {
    const { first, second, live, postrider } = await open({ response_timeout_ms: 120_000 });
    first.dial.holdSubmits = true;
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 1);
    first.dropAll();
    await postrider.reached(message, "queued");
    await two!.is(first, "up");
    await waitInQueueOfFirst(two!, message, OTHER);
    first.dial.submitStatus = () => 0x14;
    first.dial.holdSubmits = false;
    first.release();
    await postrider.passUntil(() => first.submits.length === 3, 30_000);
    await two!.changeRoute(() => ({ failover: "always" }));
    expect(await postrider.reached({ ...message, withinMs: 600_000 }, "delivered")).toBe("delivered");
    expect(second.submits).toHaveLength(1);
  });

  test("if its route alone is deleted, that connector sends it all the same", async () => {
    const { first, live, postrider } = await open({ response_timeout_ms: 120_000 }, LONG);
    const message = await takeInPart(first, () => live.send(NUMBER));
    await postrider.reached(message, "queued");
    await waitInQueueOfFirst(two!, message, OTHER);
    await postrider.passUntil(() => isDeleted(postrider, `/routes/${two?.routeId}`), 10_000);
    first.dial.holdSubmits = false;
    first.release();
    expect(await postrider.reached({ ...message, withinMs: 20_000 }, "delivered")).toBe("delivered");
  });

  test("if both its route and that connector are deleted, it is settled once a new route leads to its recipient", async () => {
    const { first, second, live, postrider, ids } = await open({ response_timeout_ms: 120_000 }, LONG);
    const message = await takeInPart(first, () => live.send(NUMBER));
    await postrider.reached(message, "queued");
    await waitInQueueOfFirst(two!, message, OTHER);
    await postrider.passUntil(() => isDeleted(postrider, `/routes/${two?.routeId}`), 10_000);
    await admin(postrider, `/routes/${otherRoute}`, { connector_ids: [ids[1]] }, "PATCH");
    await admin(postrider, `/connectors/${ids[0]}`, undefined, "DELETE");
    for (let seconds = 0; seconds < 70; seconds++) await postrider.pass(1_000);
    expect(await postrider.status(message)).toBe("queued");
    await two!.addRoute(() => ({ match: "1415", connector_ids: [ids[1]] }));
    expect(await postrider.reached({ ...message, withinMs: 90_000 }, "failed")).toBe("failed");
    expect((await live.timeline(message)).at(-1)).toMatchObject({ error: { code: "connector_deleted" } });
    const numbers = second.submits.map(({ destination }) => `+${destination.address}`);
    expect(numbers).not.toContain(NUMBER);
  });
});

/** A route cannot be deleted in the moment before its last message is in the connector's queue. */
async function isDeleted(postrider: HeldPostrider, path: string): Promise<boolean> {
  return admin(postrider, path, undefined, "DELETE").then(
    () => true,
    () => false,
  );
}
