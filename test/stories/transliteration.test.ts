/** An account may have its texts written plainly, so that typographic marks do not halve what fits. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

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

  async function sendAndDeliver(settings: Record<string, string>) {
    const live = await openLiveSms(postrider, {
      connectors: [await connectSmsc(postrider, smsc)],
      body: "Your “table” – {#var#} – is ready…",
      settings,
    });
    const message = await live.send("+14155550101", { variables: { 1: "₹5" } });
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
    return smsc.submits[0]!;
  }

  test("with the setting, text and variables go out in GSM-7", async () => {
    const { dataCoding, shortMessage } = await sendAndDeliver({ sms_transliterate: "true" });
    expect(dataCoding).toBe(0);
    expect(Buffer.from(shortMessage).toString("latin1")).toBe('Your "table" - Rs.5 - is ready...');
  });

  test("without it they go out as they were written", async () => {
    const { dataCoding, shortMessage } = await sendAndDeliver({});
    expect(dataCoding).toBe(8);
    expect(new TextDecoder("utf-16be").decode(shortMessage)).toBe("Your “table” – ₹5 – is ready…");
  });
});
