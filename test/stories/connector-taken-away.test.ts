/**
 * An operator deletes or disables a connector that has taken some of a long message's segments, or may have taken a message, or takes
 * it off its route.
 */
import { afterEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { IMPATIENT } from "../live-sms.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  const NUMBER = "+14155550701";

  /** Two segments. */
  const LONG = "A long tale of two cities. ".repeat(8);

  let two: TwoSmscs | undefined;
  afterEach(async () => {
    await two?.close();
    two = undefined;
  });

  let ids: readonly [string, string];

  async function open(...rest: [config?: Record<string, unknown>, body?: string]): Promise<TwoSmscs> {
    two = await openTwoSmscs(
      (given) => {
        ids = given;
        return {};
      },
      ...rest,
    );
    return two;
  }

  const enable = (is_enabled: boolean) =>
    admin(two!.postrider, `/connectors/${ids[0]}`, { is_enabled }, "PATCH");

  async function deleteFirst(): Promise<void> {
    await two!.changeRoute(() => ({ connector_ids: [ids[1]] }));
    await admin(two!.postrider, `/connectors/${ids[0]}`, undefined, "DELETE");
  }

  /** A message whose first segment the first connector has taken, and whose second one it has put off. */
  async function sendInPart() {
    const { first, live, postrider } = await open({}, LONG);
    first.dial.submitStatus = () => (first.submits.length === 0 ? 0 : 0x08);
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 2);
    delete first.dial.submitStatus;
    await postrider.reached(message, "queued");
    return message;
  }

  test("once its connector is deleted, a message that was sent in part has failed within a minute, and says why", async () => {
    const message = await sendInPart();
    await deleteFirst();
    expect(await two!.postrider.reached({ ...message, withinMs: 40_000 }, "failed")).toBe("failed");
    expect((await two!.live.timeline(message)).at(-1)).toMatchObject({
      status: "failed",
      error: {
        code: "connector_deleted",
        message:
          "the connector that had taken 1 of its 2 segments was deleted, and another cannot send the rest",
      },
    });
    expect(two!.second.submits).toEqual([]);
  });

  test("a connector that is disabled finishes what it has begun when it is enabled again", async () => {
    const message = await sendInPart();
    await enable(false);
    await two!.postrider.pass(600_000);
    expect([await two!.postrider.status(message), two!.second.submits]).toEqual(["queued", []]);
    await enable(true);
    await two!.postrider.pass(90_000);
    expect(await two!.postrider.status(message)).toBe("delivered");
  });

  test("a connector that its route names no longer finishes what it has begun, also beside one that answers sooner", async () => {
    const message = await sendInPart();
    await admin(two!.postrider, `/connectors/${ids[1]}`, { config: IMPATIENT }, "PATCH");
    await two!.is(two!.second, "up");
    await two!.changeRoute(() => ({ connector_ids: [ids[1]] }));
    expect(await two!.postrider.reached({ ...message, withinMs: 40_000 }, "delivered")).toBe("delivered");
    expect([two!.first.submits.length, two!.second.submits.length]).toEqual([3, 0]);
  });

  async function sendUnanswered() {
    const { first, live, postrider } = await open(IMPATIENT);
    first.dial.holdSubmits = true;
    const message = await live.send(NUMBER);
    await first.until(() => first.submits.length === 1);
    first.dial.ignoreEnquireLink = true;
    await postrider.reached(message, "queued");
    return message;
  }

  test("a message that a connector never answered goes over the other once that one is deleted", async () => {
    const message = await sendUnanswered();
    await deleteFirst();
    expect(await two!.postrider.reached({ ...message, withinMs: 40_000 }, "delivered")).toBe("delivered");
    expect(two!.second.submits).toHaveLength(1);
  });

  test("while that one is only down, it is waited for", async () => {
    const message = await sendUnanswered();
    two!.first.dial.hangUp = true;
    two!.first.dropAll();
    await two!.postrider.pass(120_000);
    expect([await two!.postrider.status(message), two!.second.submits.length]).toEqual(["queued", 0]);
  });
});
