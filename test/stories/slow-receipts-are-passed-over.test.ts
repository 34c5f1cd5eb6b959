/** The first connector of a route takes every message and stops telling what became of them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  let two: TwoSmscs;

  beforeEach(async () => {
    two = await openTwoSmscs();
  });

  afterEach(() => two.close());

  /** The first one's receipts came, and come no more. */
  async function silence(): Promise<void> {
    await two.sendEach(1);
    await two.postrider.passUntil(async () => (await two.health(two.first)).score === 1, 5_000);
    two.first.dial.receipts = "none";
    await two.sendEach(10);
    await two.postrider.pass(61_000);
  }

  const counts = () => [two.first.submits.length, two.second.submits.length];

  test("a connector whose receipts do not come is passed over, but for one message in twenty", async () => {
    await silence();
    expect(counts()).toEqual([11, 0]);
    expect(await two.health(two.first)).toMatchObject({ problems: ["slow_receipts"] });
    expect((await two.health(two.first)).score).toBeLessThan(0.5);
    await two.sendEach(40);
    expect(counts()).toEqual([13, 38]);
  });

  test("a connector that was passed over comes back by the messages that try it, once their receipts come again", async () => {
    await silence();
    two.first.dial.receipts = "after";
    let sent = 0;
    while ((await two.health(two.first)).score < 0.5 && sent < 300) {
      await two.sendEach(20);
      sent += 20;
    }
    expect(sent).toBeLessThanOrEqual(140);
    const before = two.second.submits.length;
    await two.sendEach(10);
    expect(two.second.submits).toHaveLength(before);
  });

  test("a connector that was passed over comes back without a message, when what was seen of it is long ago", async () => {
    await silence();
    for (let minutes = 0; minutes < 15 && (await two.health(two.first)).score < 0.5; minutes += 5) {
      await two.postrider.pass(300_000);
    }
    await two.sendEach(1);
    expect(counts()).toEqual([12, 0]);
  });

  test("where the only other one is down, it serves for all its slow receipts", async () => {
    await silence();
    two.second.dial.hangUp = true;
    two.second.dropAll();
    await two.is(two.second, "down");
    await two.sendEach(3);
    expect(counts()).toEqual([14, 0]);
  });

  test("a connector that has never given a receipt may be of the kind that gives none, and keeps its place", async () => {
    two.first.dial.receipts = "none";
    await two.sendEach(10);
    await two.postrider.pass(61_000);
    expect(await two.health(two.first)).toEqual({ score: 1, problems: [] });
    await two.sendEach(1);
    expect(counts()).toEqual([11, 0]);
  });

  test("the health is a metric", async () => {
    await silence();
    const metrics = await (await fetch(`${two.postrider.url}/metrics`)).text();
    const scores = [...metrics.matchAll(/^postrider_connector_health\{connector="\w{8}-.*"\} (\S+)$/gm)].map(
      ([, score]) => Number(score),
    );
    expect(scores).toEqual([expect.closeTo(0.9 ** 10, 1), 1]);
  });
});
