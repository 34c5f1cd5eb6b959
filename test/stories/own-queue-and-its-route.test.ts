/** A message waits in the queue of the only connector that may send it, and what becomes of it there depends on its route too. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import type { HeldPostrider, MessageAt } from "../held-postrider.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

const NUMBER = "+14155550712";
const OTHER = "+447700900712";

/** Two segments. */
const LONG = "A long tale of two cities. ".repeat(8);

onBothStores(() => {
  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  let ids: readonly [string, string];

  async function open(config: Record<string, unknown>, body?: string): Promise<TwoSmscs> {
    two = await openTwoSmscs(
      (given) => {
        ids = given;
        return {};
      },
      { window: 1, ...config },
      body,
    );
    await two.addRoute(() => ({ match: "44", connector_ids: [ids[0]] }));
    return two;
  }

  /** Another message takes the only slot of the first connector; its route names only the second one now. */
  async function waitsInQueueOf({ first, live, postrider, changeRoute }: TwoSmscs, message: MessageAt) {
    const before = first.submits.length;
    first.dial.holdSubmits = true;
    await live.send(OTHER);
    await first.until(() => first.submits.length === before + 1);
    await changeRoute(() => ({ connector_ids: [ids[1]] }));
    const isWaiting = async () =>
      (await live.timeline(message)).some(({ detail }) => detail?.waits_for === ids[0]);
    await postrider.passUntil(isWaiting, 30_000);
  }

  test("it is sent once that connector has a slot, though all those of its route are down", async () => {
    const { first, second, live, postrider } = await open({ response_timeout_ms: 120_000 }, LONG);
    first.dial.submitStatus = () => (first.submits.length === 0 ? 0 : 0x08);
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 2);
    delete first.dial.submitStatus;
    await postrider.reached(message, "queued");
    await waitsInQueueOf(two!, message);
    second.dial.hangUp = true;
    second.dropAll();
    await two!.is(second, "down");
    // Once a minute, its process looks whether it waits where it should.
    for (let seconds = 0; seconds < 70; seconds++) await postrider.pass(1_000);
    first.dial.holdSubmits = false;
    first.release();
    expect(await postrider.reached({ ...message, withinMs: 20_000 }, "delivered")).toBe("delivered");
  });

  test("it goes over another one once its route lets others try", async () => {
    const { first, second, live, postrider } = await open({ response_timeout_ms: 120_000 });
    first.dial.holdSubmits = true;
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 1);
    first.dropAll();
    await postrider.reached(message, "queued");
    await two!.is(first, "up");
    await waitsInQueueOf(two!, message);
    first.dial.submitStatus = () => 0x14;
    first.dial.holdSubmits = false;
    first.release();
    await postrider.passUntil(() => first.submits.length === 3, 30_000);
    await two!.changeRoute(() => ({ failover: "always" }));
    expect(await postrider.reached({ ...message, withinMs: 600_000 }, "delivered")).toBe("delivered");
    expect(second.submits).toHaveLength(1);
  });

  test("if both its route and that connector are deleted, it is settled once a new route leads to its recipient", async () => {
    const { first, second, live, postrider } = await open({ response_timeout_ms: 120_000 }, LONG);
    first.dial.submitStatus = () => (first.submits.length === 0 ? 0 : 0x08);
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 2);
    delete first.dial.submitStatus;
    await postrider.reached(message, "queued");
    await waitsInQueueOf(two!, message);
    const { data } = await admin<{ data: { route_id: string; match: string }[] }>(postrider, "/routes");
    const other = data.find(({ match }) => match === "44");
    const own = data.find((route) => route !== other);
    await postrider.passUntil(() => isDeleted(postrider, `/routes/${own?.route_id}`), 10_000);
    await admin(postrider, `/routes/${other?.route_id}`, { connector_ids: [ids[1]] }, "PATCH");
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
