/** An operator changes settings of a connector while messages are under way over it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
    connector = await connectSmsc(postrider, smsc);
    live = await openLiveSms(postrider, { connectors: [connector] });
    await postrider.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const change = (config: Record<string, unknown>) =>
    admin(postrider, `/connectors/${connector}`, { config }, "PATCH");

  test("the session stays, its answers count, and the next message goes out by the new settings", async () => {
    smsc.dial.holdSubmits = true;
    const first = await live.send("+14155550401");
    await postrider.passUntil(() => smsc.submits.length === 1, 10_000);
    await change({ source_ton: 3, window: 20, max_per_second: 50 });
    const second = await live.send("+14155550402");
    await postrider.passUntil(() => smsc.submits.length === 2, 10_000);
    smsc.release();
    expect(await postrider.reached(first, "delivered", "failed")).toBe("delivered");
    expect(await postrider.reached(second, "delivered", "failed")).toBe("delivered");
    expect(smsc.submits.map(({ source }) => source.ton)).toEqual([5, 3]);
    expect([smsc.binds.length, smsc.connections()]).toEqual([1, 1]);
  });
});
