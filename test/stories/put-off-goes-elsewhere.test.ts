/** One connector of a route puts a message off; another is free. */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startHeldPostrider } from "../held-postrider.ts";
import { openLiveSms } from "../live-sms.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  const NUMBER = "+14155550601";

  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  const counts = ({ first, second }: TwoSmscs) => [first.submits.length, second.submits.length];

  /** A system error of the provider's, a recipient's queue that is full, throttling: of each class that says "later". */
  test.each([0x08, 0x14, 0x58])(
    "a message that the first connector answers with status %p goes over the second within a second",
    async (submitStatus) => {
      two = await openTwoSmscs();
      two.first.dial.submitStatus = submitStatus;
      const message = await two.live.send(NUMBER);
      expect(await two.postrider.reached({ ...message, withinMs: 1_000 }, "delivered")).toBe("delivered");
      expect(counts(two)).toEqual([1, 1]);
      const attempts = (await two.live.timeline(message)).filter(({ kind }) => kind === "attempt");
      expect(attempts.map(({ status }) => status)).toEqual(["queued", "sent"]);
    },
  );

  test("where both put it off it waits as usual, and is offered to each once a round", async () => {
    two = await openTwoSmscs();
    for (const smsc of [two.first, two.second]) smsc.dial.submitStatus = 0x08;
    const message = await two.live.send(NUMBER);
    await two.postrider.passUntil(() => counts(two!).join() === "1,1", 1_000);
    await two.postrider.pass(1_000);
    expect(counts(two)).toEqual([1, 1]);
    await two.postrider.passUntil(() => counts(two!).join() === "2,2", 10_000);
    await two.postrider.pass(2_000);
    expect(counts(two)).toEqual([2, 2]);
    delete two.second.dial.submitStatus;
    expect(await two.postrider.reached({ ...message, withinMs: 60_000 }, "delivered")).toBe("delivered");
  });

  test("a long message goes over the second connector, too, though its last segments have not had their turn", async () => {
    two = await openTwoSmscs(() => ({}), { max_per_second_per_sender: 1 }, "x".repeat(150 * 8));
    two.first.dial.submitStatus = 0x08;
    const message = await two.live.send(NUMBER);
    expect(await two.postrider.reached({ ...message, withinMs: 30_000 }, "delivered")).toBe("delivered");
    expect(counts(two)[1]).toBe(8);
  });

  test("a sender at the rate that was set for it waits for its connector", async () => {
    two = await openTwoSmscs(() => ({}), { max_per_second_per_sender: 1 });
    for (let count = 0; count < 3; count++) await two.live.send(NUMBER);
    await two.postrider.passUntil(() => counts(two!)[0] === 3, 10_000);
    expect(counts(two)).toEqual([3, 0]);
  });

  test("what waits in a connector whose settings are changed waits for it, and goes over no other", async () => {
    let changed = "";
    const order = (ids: readonly [string, string]) => {
      [changed] = ids;
      return {};
    };
    two = await openTwoSmscs(order, { max_per_second_per_sender: 5 });
    for (let count = 0; count < 12; count++) await two.live.send(NUMBER);
    await two.postrider.passUntil(() => counts(two!)[0]! > 2, 10_000);
    expect(counts(two)[0]).toBeLessThan(8);
    await admin(two.postrider, `/connectors/${changed}`, { config: { enquire_link_ms: 20_000 } }, "PATCH");
    await two.postrider.passUntil(() => counts(two!)[0] === 12, 20_000);
    expect(counts(two)).toEqual([12, 0]);
  });

  test("a message that waits long for the rate of its sender notes it ever more rarely", async () => {
    two = await openTwoSmscs(() => ({}), { max_per_second_per_sender: 0.01 });
    await two.live.send(NUMBER);
    await two.live.send(NUMBER);
    const last = await two.live.send(NUMBER);
    await two.postrider.pass(250_000);
    const waits = (await two.live.timeline(last)).filter(({ error }) => error?.code === "smpp.sender_rate");
    expect(waits.length).toBeGreaterThan(0);
    expect(waits.length).toBeLessThan(6);
  }, 180_000);

  test("while an HTTP gateway that throttles rests, however long it asks, others take the messages", async () => {
    const postrider = await startHeldPostrider();
    const headers = { "Retry-After": "300" };
    const [busy, free] = await Promise.all([
      startFakeGateway({ status: 429, headers }),
      startFakeGateway({ status: 202, body: "0: Accepted for delivery" }),
    ]);
    const connect = async (base_url: string) => {
      const config = { provider: "kannel", base_url, username: "u", password: "p" };
      const made = { kind: "http", name: base_url, config };
      return (await admin<{ connector_id: string }>(postrider, "/connectors", made)).connector_id;
    };
    const live = await openLiveSms(postrider, {
      connectors: [await connect(busy.url), await connect(free.url)],
    });
    for (let count = 0; count < 3; count++) {
      const message = await live.send(NUMBER);
      expect(await postrider.reached({ ...message, withinMs: 2_000 }, "sent")).toBe("sent");
    }
    expect([busy.requests.length, free.requests.length]).toEqual([1, 3]);
    busy.behave({ status: 202, body: "0: Accepted for delivery" });
    await postrider.pass(300_000);
    await postrider.reached(await live.send(NUMBER), "sent");
    expect([busy.requests.length, free.requests.length]).toEqual([2, 3]);
    await Promise.all([busy.close(), free.close(), postrider.close()]);
  }, 180_000);
});
