/** The answer to a submit_sm is lost, and the SMSC repeats our reference in its receipt: that names the message. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", drop: "before answer" }),
    ]);
    const connector = await connectSmsc(postrider, smsc, { user_message_reference: true });
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

  test("the message it names is delivered, without a second sending", async () => {
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
});
