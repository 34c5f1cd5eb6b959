/** A message is worth something until its deadline only: it goes before what has more time, or not at all. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function open(config: Record<string, unknown> = {}, segments = 1): Promise<LiveSms> {
    const connector = await connectSmsc(postrider, smsc, config);
    return openLiveSms(postrider, { connectors: [connector], body: "Ten letter".repeat(segments * 15) });
  }

  /** A relative time of less than an hour (SMPP 3.4 §7.1.1), in seconds. */
  function secondsOf(validityPeriod: string): number {
    const [, minutes = "", seconds = ""] = /^00000000(\d\d)(\d\d)000R$/.exec(validityPeriod) ?? [];
    return Number(minutes) * 60 + Number(seconds);
  }

  test("what is left of the window goes out as validity period: less on every attempt", async () => {
    const live = await open();
    smsc.dial.submitStatus = () => (smsc.submits.length < 2 ? 0x08 : 0);
    const message = await live.send("+14155551501", { expire_after_seconds: 120 });
    await postrider.reached(message, "delivered");
    const [first = 0, second = 0, third = 0] = smsc.submits.map(({ validityPeriod }) =>
      secondsOf(validityPeriod),
    );
    expect(first).toBeGreaterThanOrEqual(118);
    // The retries come after 5 s and 15 s, give or take a tenth.
    expect(first - second).toBeWithin(4, 7);
    expect(second - third).toBeWithin(13, 18);
  });

  test("a message whose segments cannot all go out in time expires, and none of them is sent", async () => {
    const live = await open({ max_per_second: 1 }, 10);
    const message = await live.send("+14155551502", { expire_after_seconds: 6 });
    expect(await postrider.reached(message, "expired", "failed", "delivered")).toBe("expired");
    expect(smsc.submits).toEqual([]);
    expect((await live.timeline(message))[0]).toMatchObject({ error: { code: "smpp.too_late" } });
    expect((await live.timeline(message)).length).toBeLessThan(6);
  });

  test("a message whose segments all have the time goes out as ever, at the same rate", async () => {
    const live = await open({ max_per_second: 1 }, 3);
    const message = await live.send("+14155551503", { expire_after_seconds: 20 });
    expect(await postrider.reached(message, "delivered", "expired")).toBe("delivered");
  });

  test("what the last second of its window finds still here is not sent any more", async () => {
    const live = await open();
    smsc.dial.hangUp = true;
    smsc.dropAll();
    const message = await live.send("+14155551504", { expire_after_seconds: 30 });
    await postrider.pass(29_100);
    smsc.dial.hangUp = false;
    expect(await postrider.reached({ ...message, withinMs: 2_000 }, "expired", "sent")).toBe("expired");
    await postrider.pass(60_000);
    expect(smsc.submits).toEqual([]);
  });

  test("of one account's messages that wait, the one with the earliest deadline goes first", async () => {
    const live = await open({ window: 1, max_per_second: 2 });
    smsc.dial.hangUp = true;
    smsc.dropAll();
    const patient = [];
    for (const n of [1, 2, 3, 4]) patient.push(await live.send(`+1415555161${n}`));
    const urgent = await live.send("+14155551600", { expire_after_seconds: 300 });
    smsc.dial.hangUp = false;
    for (const message of [...patient, urgent])
      await postrider.reached({ ...message, withinMs: 120_000 }, "delivered");
    expect(smsc.submits[0]?.destination.address).toBe("14155551600");
  });
});
