/** A route names two connectors. The first serves while it can. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { until } from "../until.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let first: FakeSmsc;
  let second: FakeSmsc;
  let live: LiveSms;
  const connectorOf = new Map<FakeSmsc, string>();

  beforeEach(async () => {
    [postrider, first, second] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "after" }),
      startFakeSmsc({ receipts: "after" }),
    ]);
    for (const smsc of [first, second]) connectorOf.set(smsc, await connectSmsc(postrider, smsc));
    const connectors = [...connectorOf.values()];
    live = await openLiveSms(postrider, { connectors, body: "A long tale of two cities. ".repeat(8) });
    for (const smsc of [first, second]) await is(smsc, "up");
  });

  afterEach(async () => {
    connectorOf.clear();
    await Promise.all([first.close(), second.close()]);
    await postrider.close();
  });

  async function is(smsc: FakeSmsc, wanted: string): Promise<void> {
    const path = `/connectors/${connectorOf.get(smsc)}`;
    await postrider.passUntil(async () => {
      const { status } = await admin<{ status?: { state: string } }>(postrider, path);
      return status?.state === wanted;
    }, 180_000);
  }

  async function takeDown(smsc: FakeSmsc): Promise<void> {
    smsc.dial.hangUp = true;
    smsc.dropAll();
    await is(smsc, "down");
  }

  async function bringUp(smsc: FakeSmsc): Promise<void> {
    smsc.dial.hangUp = false;
    await is(smsc, "up");
  }

  /** No time passes before the attempt is settled: its answers come in real time, and its lease would run out. */
  const settled = (message: MessageAt) =>
    until(
      () => postrider.status(message),
      (status) => status !== "sending",
    );

  const numbers = (smsc: FakeSmsc) => [
    ...new Set(smsc.submits.map(({ destination }) => destination.address)),
  ];

  test("while the first connector of a route is down the second is used, and when it is back the first again", async () => {
    await postrider.reached(await live.send("+14155550301"), "delivered");
    await takeDown(first);
    await postrider.reached(await live.send("+14155550302"), "delivered");
    await bringUp(first);
    await postrider.reached(await live.send("+14155550303"), "delivered");
    expect(numbers(first)).toEqual(["14155550301", "14155550303"]);
    expect(numbers(second)).toEqual(["14155550302"]);
  });

  /** Its sessions are closed, and others opened. */
  const reopen = (smsc: FakeSmsc) =>
    admin(
      postrider,
      `/connectors/${connectorOf.get(smsc)}`,
      { config: { enquire_link_ms: 20_000 } },
      "PATCH",
    );

  test("a connector that is being opened is waited for, but for 5 s only", async () => {
    first.dial.ignoreBind = true;
    await reopen(first);
    const message = await live.send("+14155550307");
    await postrider.pass(4_000);
    expect(second.submits).toEqual([]);
    await postrider.pass(2_500);
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(numbers(second)).toEqual(["14155550307"]);
  });

  test("a connector that cannot be opened is not waited for", async () => {
    first.dial.hangUp = true;
    await reopen(first);
    await is(first, "down");
    const message = await live.send("+14155550308");
    await second.until(() => numbers(second).length === 1);
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
  });

  test("messages that waited for both connectors go over the one that comes", async () => {
    await takeDown(first);
    await takeDown(second);
    const waiting = await Promise.all([1, 2, 3].map((n) => live.send(`+1415555031${n}`)));
    await postrider.pass(5_000);
    await bringUp(second);
    for (const message of waiting)
      expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(numbers(second)).toHaveLength(3);
  });

  test("a message the first connector put off goes over the second when the first is down by then", async () => {
    first.dial.submitStatus = 0x08;
    const message = await live.send("+14155550304");
    await first.until(() => first.submits.length === 2);
    await takeDown(first);
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(second.submits).toHaveLength(2);
  });

  test("a message that one connector has taken in part is finished by that one, and goes over no other", async () => {
    first.dial.submitStatus = () => (first.submits.length === 0 ? 0 : 0x08);
    const message = await live.send("+14155550305");
    await first.until(() => first.submits.length === 2);
    await settled(message);
    await takeDown(first);
    await postrider.pass(60_000);
    expect(await postrider.status(message)).toBe("queued");
    delete first.dial.submitStatus;
    await bringUp(first);
    expect(await postrider.reached({ ...message, withinMs: 120_000 }, "delivered", "failed")).toBe(
      "delivered",
    );
    expect(second.submits).toEqual([]);
    const headers = first.submits.map(({ shortMessage }) => [...shortMessage.subarray(3, 6)]);
    expect(headers).toEqual([
      [headers[0]![0]!, 2, 1],
      [headers[0]![0]!, 2, 2],
      [headers[0]![0]!, 2, 2],
    ]);
  });

  test("a message that one connector has taken in part is finished by it, though a better one has come up since", async () => {
    await takeDown(first);
    second.dial.submitStatus = () => (second.submits.length === 0 ? 0 : 0x08);
    const message = await live.send("+14155550306");
    await second.until(() => second.submits.length === 2);
    await settled(message);
    delete second.dial.submitStatus;
    await bringUp(first);
    expect(await postrider.reached({ ...message, withinMs: 120_000 }, "delivered", "failed")).toBe(
      "delivered",
    );
    expect(first.submits).toEqual([]);
    expect(second.submits).toHaveLength(3);
  });
});
