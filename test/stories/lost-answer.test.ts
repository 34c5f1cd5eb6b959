/** A submit_sm is written whole, and the connection ends before its answer: nobody knows whether it was sent. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  /** Two segments. */
  const LONG = "Your parcel comes between nine and ten. ".repeat(5);

  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "after", drop: "before answer" }),
    ]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function open(settings: Record<string, string> = {}, config: Record<string, unknown> = {}) {
    const connector = await connectSmsc(postrider, smsc, config);
    return openLiveSms(postrider, { connectors: [connector], body: LONG, settings });
  }

  const reference = ({ shortMessage }: FakeSmsc["submits"][number]) => shortMessage[3];
  const isSettledAs = (status: string) => ["delivered", "failed", "expired", "undelivered"].includes(status);

  async function attemptsOf(live: LiveSms, message: MessageAt) {
    return (await live.timeline(message)).filter(({ kind }) => kind === "attempt");
  }

  test("by default it is sent again, with the same reference, and is delivered once", async () => {
    const live = await open({}, { window: 1 });
    const message = await live.send("+14155550401");
    await smsc.until(() => smsc.submits.length === 1 && smsc.connections() === 0);
    delete smsc.dial.drop;
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");

    const [lost, ...again] = smsc.submits;
    expect(again).toHaveLength(2);
    expect(again[0]?.shortMessage).toEqual(lost!.shortMessage);
    expect(again.map(reference)).toEqual([reference(lost!), reference(lost!)]);
    const delivered = (await live.timeline(message)).filter(({ status }) => status === "delivered");
    expect(delivered).toHaveLength(1);
    expect((await attemptsOf(live, message))[0]).toMatchObject({ error: { code: "smpp.session_lost" } });
  });

  test("every attempt that is lost is counted and visible to the operator", async () => {
    const live = await open();
    const message = await live.send("+14155550402");
    await smsc.until(() => smsc.submits.length > 0 && smsc.connections() === 0);
    await postrider.passUntil(async () => (await attemptsOf(live, message)).length === 1, 5_000);
    const metrics = await (await fetch(`${postrider.url}/metrics`)).text();
    const counted = metrics.split("\n").filter((line) => line.includes('outcome="unconfirmed"'));
    expect(counted).toEqual([
      expect.stringMatching(/^postrider_attempt_outcomes_total\{.*channel="sms".*\} 2$/),
    ]);
  });

  test("held, it stays sending, is not sent again, and has failed as unconfirmed at the end of its window", async () => {
    const live = await open({ on_unconfirmed: "hold" });
    const message = await live.send("+14155550403", { expire_after_seconds: 5 });
    await smsc.until(() => smsc.submits.length > 0 && smsc.connections() === 0);
    delete smsc.dial.drop;
    const submitted = smsc.submits.length;
    await postrider.pass(4_900);
    expect(await postrider.status(message)).toBe("sending");

    const lateMs = await postrider.passUntil(async () => isSettledAs(await postrider.status(message)), 5_000);
    expect(lateMs).toBeLessThanOrEqual(1_000);
    expect(await postrider.status(message)).toBe("failed");
    expect((await live.timeline(message)).at(-1)).toMatchObject({
      status: "failed",
      error: { code: "unconfirmed" },
    });
    await postrider.pass(60_000);
    expect(smsc.submits).toHaveLength(submitted);
  });

  test("held, another message of the account is sent meanwhile", async () => {
    const live = await open({ on_unconfirmed: "hold" });
    const held = await live.send("+14155550404");
    await smsc.until(() => smsc.submits.length > 0 && smsc.connections() === 0);
    delete smsc.dial.drop;
    const other = await live.send("+14155550405");
    expect(await postrider.reached(other, "delivered", "failed")).toBe("delivered");
    expect(await postrider.status(held)).toBe("sending");
  });

  test("an SMSC that stays silent is given up after its time, and the message is sent again", async () => {
    delete smsc.dial.drop;
    smsc.dial.holdSubmits = true;
    const live = await open({}, { response_timeout_ms: 5_000 });
    const message = await live.send("+14155550406");
    await smsc.until(() => smsc.submits.length === 2);
    await postrider.pass(4_000);
    expect(await postrider.status(message)).toBe("sending");
    expect(smsc.submits).toHaveLength(2);
    smsc.dial.holdSubmits = false;
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(smsc.submits).toHaveLength(4);
    expect(new Set(smsc.submits.map(reference)).size).toBe(1);
  });
});
