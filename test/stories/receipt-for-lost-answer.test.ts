/** The answer to a submit_sm is lost, and the SMSC repeats our reference in its receipt: that names the message. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, giveUpOn, IMPATIENT, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", drop: "before answer" }),
    ]);
    connector = await connectSmsc(postrider, smsc, { ...IMPATIENT, user_message_reference: true });
    live = await openLiveSms(postrider, {
      connectors: [connector],
      settings: { on_unconfirmed: "hold" },
    });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function lose(to: string) {
    const message = await live.send(to);
    await smsc.until(() => smsc.submits.length === 1 && smsc.connections() === 0);
    delete smsc.dial.drop;
    await postrider.passUntil(() => smsc.bound().length === 1, 60_000);
    expect(await postrider.status(message)).toBe("sending");
    return message;
  }

  test("the message that a receipt names by its reference is delivered, without a second sending", async () => {
    const message = await lose("+14155551201");
    expect(await smsc.sendReceipt({ ...smsc.submits[0]!, messageId: "F00D" })).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
    const told = (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);
    expect(told).toEqual(["attempt:sending", "late_answer:sent", "receipt:delivered"]);
    expect((await live.timeline(message)).at(-1)?.detail).toMatchObject({ matched_by: "reference" });
    await postrider.pass(60_000);
    expect(smsc.submits).toHaveLength(1);
  });

  test("the same reference to another number names nobody", async () => {
    const message = await lose("+14155551202");
    const destination = { ...smsc.submits[0]!.destination, address: "14155559999" };
    await smsc.sendReceipt({ ...smsc.submits[0]!, destination, messageId: "F00D" });
    expect(await postrider.status(message)).toBe("sending");
  });

  test("the other segments of the message go out as it began, after its connector was set up anew with longer headers", async () => {
    delete smsc.dial.drop;
    // Two segments with the header of 8 bits, and three with that of 16.
    const { send, timeline } = await openLiveSms(postrider, {
      connectors: [connector],
      body: "x".repeat(306),
    });
    await postrider.passUntil(() => smsc.bound().length === 1, 60_000);
    smsc.dial.holdSubmits = true;
    const message = await send("+14155551203");
    await giveUpOn(2, { postrider, smsc });
    await postrider.passUntil(
      async () => (await timeline(message)).some(({ kind }) => kind === "attempt"),
      10_000,
    );
    expect(await smsc.sendReceipt({ ...smsc.submits[1]!, messageId: "F00D" })).toBe(0);
    smsc.dial.holdSubmits = false;
    for (const change of [{ is_enabled: false }, { config: { concat: "udh16" } }, { is_enabled: true }])
      await admin(postrider, `/connectors/${connector}`, change, "PATCH");
    await postrider.passUntil(() => smsc.submits.length === 3, 60_000);
    const [first, , again] = smsc.submits;
    expect(again?.shortMessage.subarray(0, 6)).toEqual(first!.shortMessage.subarray(0, 6));
    expect(await smsc.sendReceipt({ ...again!, messageId: "F00E" })).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
  });
});
