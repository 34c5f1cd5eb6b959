/** A message whose answer has not come in time waits to be sent again, and its sender wants to cancel it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, giveUpOn, IMPATIENT, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", holdSubmits: true }),
    ]);
    const connector = await connectSmsc(postrider, smsc, IMPATIENT);
    live = await openLiveSms(postrider, { connectors: [connector] });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function cancel({ apiKey, path }: MessageAt): Promise<number> {
    const headers = { Authorization: `Bearer ${apiKey}` };
    return (await fetch(`${postrider.url}${path}/cancel`, { method: "POST", headers })).status;
  }

  test("a message that may be on its way cannot be canceled, and its late answer and receipt still count", async () => {
    const message = await live.send("+14155551010");
    await giveUpOn(1, { postrider, smsc });
    await postrider.reached(message, "queued");
    expect(await cancel(message)).toBe(409);
    expect(await postrider.status(message)).toBe("queued");
    smsc.release();
    await postrider.reached({ ...message, withinMs: 1_000 }, "sent");
    expect(await cancel(message)).toBe(409);
    await smsc.sendReceipt(smsc.submits[0]!);
    expect(await postrider.status(message)).toBe("delivered");
    expect(smsc.submits).toHaveLength(1);
  });

  test("a message that was put off after a try without an answer may be on its way, and canceling is refused", async () => {
    const message = await live.send("+14155551012");
    await giveUpOn(1, { postrider, smsc });
    await postrider.reached(message, "queued");
    smsc.dial.holdSubmits = false;
    smsc.dial.submitStatus = 0x64;
    await postrider.passUntil(() => smsc.submits.length === 2, 60_000);
    await postrider.reached(message, "queued");
    expect(await cancel(message)).toBe(409);
  });

  test("a message that the SMSC has refused for now has not left, is canceled and is not sent again", async () => {
    smsc.release();
    smsc.dial.submitStatus = 0x08;
    const message = await live.send("+14155551011");
    await smsc.until(() => smsc.submits.length === 1);
    await postrider.reached(message, "queued");
    expect(await cancel(message)).toBe(200);
    expect(await postrider.status(message)).toBe("failed");
    await postrider.pass(60_000);
    expect(smsc.submits).toHaveLength(1);
  });
});
