/** The SMSC says that we are too fast: nothing is lost by that but time. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";
import { until } from "../until.ts";

onBothStores(() => {
  /** More than an SMS's attempts. */
  const VERY_OFTEN = 70;

  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
    live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)] });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const attemptNumbers = () =>
    postrider.logged.filter(({ msg }) => msg === "attempt").map(({ attempt }) => attempt);

  test("a message the SMSC throttles three times is tried again and delivered once", async () => {
    smsc.dial.throttle = 3;
    const message = await live.send("+14155550101");
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
    expect(smsc.submits.map(({ messageId }) => messageId !== "")).toEqual([false, false, false, true]);
    const attempts = (await live.timeline(message)).filter(({ kind }) => kind === "attempt");
    expect(attempts.map(({ error }) => error?.code)).toEqual([
      "smpp.0x00000058",
      "smpp.0x00000058",
      "smpp.0x00000058",
      undefined,
    ]);
  });

  test("throttling spends no attempt: throttled more often than an SMS may be tried, it is delivered once", async () => {
    smsc.dial.throttle = VERY_OFTEN;
    const message = await live.send("+14155550102");
    const at = { ...message, withinMs: 600_000 };
    expect(await postrider.reached(at, "delivered", "failed", "expired")).toBe("delivered");
    expect(smsc.submits.filter(({ messageId }) => messageId !== "")).toHaveLength(1);
    expect(attemptNumbers()).toEqual(Array(VERY_OFTEN + 1).fill(1));
    // The 1st to the 32nd, the 64th, and the last one, for then it was sent.
    expect((await live.timeline(message)).filter(({ kind }) => kind === "attempt")).toHaveLength(34);
  }, 180_000);

  test("while the bind rests after a throttling, nothing else is submitted on it", async () => {
    smsc.dial.throttle = 1;
    const throttled = await live.send("+14155550103");
    await smsc.until(() => smsc.submits.length === 1);
    await until(
      () => postrider.status(throttled),
      (status) => status === "queued",
    );
    const other = await live.send("+14155550104");
    await postrider.pass(500);
    expect(smsc.submits).toHaveLength(1);
    expect(await postrider.reached(other, "delivered")).toBe("delivered");
    expect(await postrider.reached(throttled, "delivered")).toBe("delivered");
  });
});
