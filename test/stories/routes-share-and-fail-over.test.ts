/** Two connectors of one route: who gets how much, and what may go over the other. */
import { afterEach, expect, test } from "bun:test";
import { send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  let two: TwoSmscs;

  afterEach(() => two.close());

  const shares = (one: number, other: number) => (ids: readonly [string, string]) => ({
    connectors: [
      { connector_id: ids[0], weight: one },
      { connector_id: ids[1], weight: other },
    ],
  });

  const counts = () => [two.first.submits.length, two.second.submits.length];

  async function sendBatch(count: number): Promise<void> {
    const to = Array.from({ length: count }, (_, n) => `+1415${5_560_000 + n}`);
    const body = { to, template_id: two.live.templateId };
    const { apiKey } = two.live;
    expect((await send(two.postrider, { apiKey, path: "/v1/sms/messages", body })).status).toBe(202);
    const all = () => counts().reduce((sum, each) => sum + each, 0) >= count;
    await two.postrider.passUntil(all, 60_000);
  }

  test("connectors with weights share the messages in proportion, within a batch and one by one", async () => {
    two = await openTwoSmscs(shares(3, 1), { window: 50 });
    await sendBatch(40);
    expect(counts()).toEqual([30, 10]);
    await two.sendEach(8);
    expect(counts()).toEqual([36, 12]);
  });

  test("the changed connectors of a route count for a message accepted right after the answer", async () => {
    two = await openTwoSmscs();
    const expected: [number, number] = [0, 0];
    for (const at of [1, 0, 1] as const) {
      await two.changeRoute((ids) => ({ connector_ids: at === 0 ? ids : ids.toReversed() }));
      await two.sendEach(1);
      expected[at] += 1;
      expect(counts()).toEqual(expected);
    }
  });

  test("a new route, and changed conditions of one, count for a message accepted right after the answer", async () => {
    two = await openTwoSmscs();
    // No time passes in between: what was read of the routes for one message is fresh when the next comes.
    await two.live.send("+14155550001");
    await two.addRoute(([, second]) => ({ match: "1415", connector_ids: [second] }));
    await two.live.send("+14155550002");
    await two.changeRoute(() => ({ match: "1415555" }));
    await two.live.send("+14155550003");
    await two.changeRoute(() => ({ match: "91" }));
    await two.live.send("+14155550004");
    await two.postrider.passUntil(() => counts()[0]! + counts()[1]! === 4, 60_000);
    expect(counts()).toEqual([2, 2]);
  });

  test("what one that shares has no room for at once goes over the other", async () => {
    two = await openTwoSmscs(shares(9, 1), { window: 5 });
    two.first.dial.holdSubmits = true;
    await sendBatch(40);
    expect(counts()).toEqual([5, 35]);
    two.first.release();
  });

  test("while one that shares is down the other takes all, and the shares hold again when it is back", async () => {
    two = await openTwoSmscs(shares(1, 1));
    two.first.dial.hangUp = true;
    two.first.dropAll();
    await two.is(two.first, "down");
    await two.sendEach(6);
    expect(counts()).toEqual([0, 6]);
    two.first.dial.hangUp = false;
    await two.is(two.first, "up");
    await two.sendEach(6);
    expect(counts()).toEqual([3, 9]);
  });

  test("a connector that is throttled is passed over until its pace has recovered", async () => {
    two = await openTwoSmscs();
    two.first.dial.throttle = 1;
    await two.sendEach(1);
    // Its pace says so. As an error besides it would be held against the connector for ten minutes.
    expect(await two.health(two.first)).toMatchObject({ score: 0.45, problems: ["throttled"] });
    const [throttled] = counts();
    await two.sendEach(5);
    expect(counts()).toEqual([throttled!, 6]);
    await two.postrider.passUntil(async () => (await two.health(two.first)).score >= 0.5, 120_000);
    await two.sendEach(1);
    expect(counts()).toEqual([throttled! + 1, 6]);
  });

  test("a connector that fails again and again is passed over, and the messages it put off go over the other", async () => {
    two = await openTwoSmscs();
    two.first.dial.submitStatus = 0x08;
    await sendBatch(9);
    await two.postrider.passUntil(() => two.second.submits.length === 9, 60_000);
    expect(await two.health(two.first)).toMatchObject({ problems: ["errors"] });
    const before = two.first.submits.length;
    await two.sendEach(5);
    expect(counts()).toEqual([before, 14]);
  });

  async function loseAnswer() {
    two.first.dial.drop = "before answer";
    two.first.dial.hangUp = true;
    const message = await two.live.send("+14155550999");
    await two.first.until(() => two.first.submits.length === 1 && two.first.connections() === 0);
    await two.is(two.first, "down");
    return message;
  }

  test("a message whose answer was lost waits for its connector, though another is up", async () => {
    two = await openTwoSmscs();
    const message = await loseAnswer();
    await two.postrider.pass(60_000);
    expect(two.second.submits).toEqual([]);
    delete two.first.dial.drop;
    two.first.dial.hangUp = false;
    await two.is(two.first, "up");
    expect(await two.postrider.reached({ ...message, withinMs: 120_000 }, "delivered")).toBe("delivered");
    expect(counts()).toEqual([2, 0]);
  }, 180_000);

  test("on a route that always fails over it goes over the other one", async () => {
    two = await openTwoSmscs(() => ({ failover: "always" }));
    const message = await loseAnswer();
    expect(await two.postrider.reached(message, "delivered")).toBe("delivered");
    expect(counts()).toEqual([1, 1]);
  });
});
