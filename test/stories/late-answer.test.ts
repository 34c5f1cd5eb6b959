/** The SMSC answers a submit_sm after it had been given up on: it has taken the message all along, or refused it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, giveUpOn, IMPATIENT, type LiveSms, openLiveSms } from "../live-sms.ts";
import { storedRows } from "../stored-rows.ts";

onBothStores(() => {
  /** Two segments. */
  const LONG = "Your parcel comes between nine and ten. ".repeat(5);

  let postrider: HeldPostrider;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", holdSubmits: true }),
    ]);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function open(settings: Record<string, string> = {}, binds = 1): Promise<LiveSms> {
    const connector = await connectSmsc(postrider, smsc, { ...IMPATIENT, binds });
    return openLiveSms(postrider, { connectors: [connector], body: LONG, settings });
  }

  /** With a second session, over which a message goes again while the first has not been answered. */
  const openWithTwo = () => open({}, 2);

  const kinds = async (live: LiveSms, message: Parameters<LiveSms["timeline"]>[0]) =>
    (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);

  test("a message whose answers come late is sent, is not sent again, and its receipts match", async () => {
    const live = await open();
    const message = await live.send("+14155551001");
    await giveUpOn(2, { postrider, smsc });
    await postrider.reached(message, "queued");
    smsc.release();
    await postrider.reached({ ...message, withinMs: 1_000 }, "sent");
    await postrider.pass(60_000);
    expect(smsc.submits).toHaveLength(2);
    for (const submit of smsc.submits) expect(await smsc.sendReceipt(submit)).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
    const told = ["attempt:queued", "late_answer:queued", "late_answer:sent"];
    expect(await kinds(live, message)).toEqual([...told, "receipt:sent", "receipt:delivered"]);
    const [, , sent] = await live.timeline(message);
    expect(sent?.detail).toMatchObject({ segments: 2, encoding: "gsm7" });
  });

  test("a message that is held has been sent as well, once its answers come late", async () => {
    const live = await open({ on_unconfirmed: "hold" });
    const message = await live.send("+14155551002");
    await giveUpOn(2, { postrider, smsc });
    await postrider.pass(30_000);
    expect(await postrider.status(message)).toBe("sending");
    smsc.release();
    expect(await postrider.reached({ ...message, withinMs: 1_000 }, "sent", "failed")).toBe("sent");
  });

  test("when it has been sent again by then, the first receipt settles it, whichever copy it is of", async () => {
    const live = await openWithTwo();
    const message = await live.send("+14155551003");
    await giveUpOn(2, { postrider, smsc });
    await smsc.until(() => smsc.submits.length === 2);
    await postrider.passUntil(() => smsc.submits.length === 4, 10_000);
    smsc.release();
    await postrider.reached(message, "sent");
    for (const submit of smsc.submits.slice(0, 2)) await smsc.sendReceipt(submit);
    // Their ids came with the late answers, and those may be recorded after the answers that came in time.
    expect(await postrider.reached(message, "delivered", "undelivered")).toBe("delivered");
    for (const submit of smsc.submits.slice(2)) await smsc.sendReceipt(submit, "UNDELIV");
    expect(await postrider.status(message)).toBe("delivered");
    expect((await kinds(live, message)).slice(-2)).toEqual([
      "late_receipt:delivered",
      "late_receipt:delivered",
    ]);
    const metrics = await (await fetch(`${postrider.url}/metrics`)).text();
    expect(metrics).toContain("postrider_receipts_parked 0");
  });

  /** A message of two segments, of which the SMSC takes the first; its answer to the second comes late, with this status. */
  async function refuseSecond(submitStatus: number, settings: Record<string, string> = {}) {
    smsc.dial.holdSubmits = false;
    smsc.dial.submitStatus = () => {
      smsc.dial.holdSubmits = smsc.submits.length > 0;
      return smsc.submits.length > 0 ? submitStatus : 0;
    };
    const live = await open(settings);
    await postrider.passUntil(() => smsc.bound().length > 0, 20_000);
    const message = await live.send("+14155551004");
    await giveUpOn(2, { postrider, smsc });
    await postrider.reached(message, settings.on_unconfirmed === "hold" ? "sending" : "queued");
    smsc.dial.submitStatus = 0;
    smsc.release();
    return { live, message };
  }

  test.each([{}, { on_unconfirmed: "hold" }])(
    "a message one of whose segments was rejected has failed as soon as the answer comes (%j)",
    async (settings: Record<string, string>) => {
      const { live, message } = await refuseSecond(0x0b, settings);
      await postrider.reached({ ...message, withinMs: 1_000 }, "failed");
      const last = (await live.timeline(message)).at(-1);
      expect(last).toMatchObject({ kind: "late_answer", error: { code: "smpp.0x0000000b" } });
      expect(await storedRows(postrider.dataFolder, "SELECT id FROM jobs")).toEqual([]);
      await postrider.pass(60_000);
      expect(smsc.submits).toHaveLength(2);
    },
  );

  test("a message that is held, and whose second segment was refused for now, is sent to its end", async () => {
    const { live, message } = await refuseSecond(0x64, { on_unconfirmed: "hold" });
    await postrider.reached({ ...message, withinMs: 1_000 }, "queued");
    smsc.dial.holdSubmits = false;
    await postrider.reached({ ...message, withinMs: 20_000 }, "sent");
    expect(smsc.submits).toHaveLength(3);
    expect(smsc.submits[2]?.shortMessage).toEqual(smsc.submits[1]!.shortMessage);
    expect((await kinds(live, message)).slice(-3)).toEqual([
      "attempt:sending",
      "late_answer:queued",
      "attempt:sent",
    ]);
  });

  test("a message that has been sent again by then is not affected by the refusal of the first", async () => {
    smsc.dial.submitStatus = 0x0b;
    const live = await openWithTwo();
    const message = await live.send("+14155551005");
    await giveUpOn(2, { postrider, smsc });
    smsc.dial.submitStatus = 0;
    await postrider.passUntil(() => smsc.submits.length === 4, 10_000);
    smsc.release();
    await postrider.reached(message, "sent");
    await postrider.passUntil(async () => (await kinds(live, message)).length === 4, 5_000);
    expect((await kinds(live, message)).slice(-2)).toEqual(["late_answer:sent", "late_answer:sent"]);
    expect(await postrider.status(message)).toBe("sent");
  });
});
