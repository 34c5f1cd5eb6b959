/** An account may have its texts written plainly, so that typographic marks do not halve what fits. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
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

  const change = (accountId: string, value: string | null) =>
    admin(postrider, `/settings/sms_transliterate?account_id=${accountId}`, { value }, "PUT");

  /** Sends a text of two segments or more, of which the SMSC puts all but the first off until the account's setting is another. */
  async function changedBetweenSegments(body: string, from: string | null, to: string | null) {
    const live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)], body });
    await change(live.accountId, from);
    await postrider.pass(1_100);
    const isFirst = ({ shortMessage }: { shortMessage: Uint8Array }) => shortMessage[5] === 1;
    smsc.dial.submitStatus = (message) => (isFirst(message) ? 0 : 0x14);
    const message = await live.send("+14155550102");
    await smsc.until(() => smsc.submits.some((submit) => !isFirst(submit)));
    await postrider.pass(500);
    await change(live.accountId, to);
    delete smsc.dial.submitStatus;
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
    const taken = smsc.submits.filter(({ messageId }) => messageId !== "");
    return { codings: [...new Set(taken.map(({ dataCoding }) => dataCoding))], texts: taken.map(textOf) };
  }

  const textOf = ({ dataCoding, shortMessage }: { dataCoding: number; shortMessage: Uint8Array }) =>
    dataCoding === 8
      ? new TextDecoder("utf-16be").decode(shortMessage.subarray(6))
      : Buffer.from(shortMessage.subarray(6)).toString("latin1");

  const QUOTED = `“${"Your table is ready. ".repeat(5)}”`;

  test("a message that has left in part is finished as it was begun, though texts are to be plain by now", async () => {
    const { codings, texts } = await changedBetweenSegments(QUOTED, null, "true");
    expect([codings, texts.join("")]).toEqual([[8], QUOTED]);
  });

  test("the same where they were plain, and are no longer", async () => {
    const long = `“${"Your table is ready. ".repeat(9)}”`;
    const { codings, texts } = await changedBetweenSegments(long, "true", null);
    expect([codings, texts.join("")]).toEqual([[0], long.replace(/[“”]/g, '"')]);
  });

  test("the same where both ways of writing make as many segments", async () => {
    const dots = "…".repeat(80);
    const { codings, texts } = await changedBetweenSegments(dots, null, "true");
    expect([codings, texts.join("")]).toEqual([[8], dots]);
  });
});
