/**
 * A long SMS of which nothing was taken is made anew by its next attempt. Over another connector, or by other settings, it may have fewer
 * segments than the first attempt had counted: then it has only those.
 */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

/** The SMSC's queue is full. */
const FULL = 0x14;

onBothStores(() => {
  let postrider: HeldPostrider;
  let first: FakeSmsc;
  let second: FakeSmsc;

  beforeEach(async () => {
    [postrider, first, second] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "after" }),
      startFakeSmsc({ receipts: "after" }),
    ]);
  });

  afterEach(async () => {
    await Promise.all([first.close(), second.close()]);
    await postrider.close();
  });

  const end = (message: MessageAt) => postrider.reached(message, "delivered", "failed", "expired");
  const taken = ({ submits }: FakeSmsc) => submits.filter(({ messageId }) => messageId !== "");

  test("where its account's texts are plain by then", async () => {
    const connectors = [await connectSmsc(postrider, first)];
    const live = await openLiveSms(postrider, { connectors, body: `“${"Your table is ready. ".repeat(5)}”` });
    first.dial.submitStatus = FULL;
    const message = await live.send("+14155550103");
    await first.until(() => first.submits.length === 2);
    await postrider.pass(500);
    await admin(
      postrider,
      `/settings/sms_transliterate?account_id=${live.accountId}`,
      { value: "true" },
      "PUT",
    );
    delete first.dial.submitStatus;
    expect(await end(message)).toBe("delivered");
    expect(taken(first).map(({ dataCoding }) => dataCoding)).toEqual([0]);
  });

  test("where the next connector of its route has room for more in a segment", async () => {
    const connectors = [
      await connectSmsc(postrider, first, { concat: "udh16" }),
      await connectSmsc(postrider, second, { concat: "udh8" }),
    ];
    const live = await openLiveSms(postrider, { connectors, body: "Ready".repeat(61) });
    first.dial.submitStatus = FULL;
    const message = await live.send("+14155550104");
    expect(await end(message)).toBe("delivered");
    expect(first.submits.length).toBeGreaterThan(0);
    expect([taken(first).length, taken(second).length]).toEqual([0, 2]);
  });
});
