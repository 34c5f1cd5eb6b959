/** Long texts go out as segments that a handset joins again, and are judged by all their receipts. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, type ReceivedSubmit, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "none" })]);
    connector = await connectSmsc(postrider, smsc);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  /** A message of the account, once the SMSC has taken its segments. */
  async function sent(body: string) {
    const live = await openLiveSms(postrider, { connectors: [connector], body });
    // Routes that were read just before this one was made are believed for a second.
    await postrider.pass(1_100);
    const message = await live.send("+14155550501");
    await postrider.reached(message, "sent");
    return { live, message };
  }

  interface Segment {
    readonly reference: number;
    readonly total: number;
    readonly number: number;
    readonly payload: Uint8Array;
  }

  /** Reads a segment as a handset does (3GPP TS 23.040 §9.2.3.24.1). */
  function toSegment({ esmClass, shortMessage }: ReceivedSubmit): Segment {
    expect(esmClass & 0x40).toBe(0x40);
    expect([...shortMessage.subarray(0, 3)]).toEqual([5, 0, 3]);
    const [reference = 0, total = 0, number = 0] = shortMessage.subarray(3, 6);
    return { reference, total, number, payload: shortMessage.subarray(6) };
  }

  /** The text a handset shows: segments of one reference, joined by number. */
  function join(decode: (octets: Uint8Array) => string, submits = smsc.submits): string {
    const segments = submits.map(toSegment);
    expect(new Set(segments.map(({ reference }) => reference)).size).toBe(1);
    expect(segments.every(({ total }) => total === segments.length)).toBe(true);
    const ordered = segments.toSorted((a, b) => a.number - b.number);
    expect(ordered.map(({ number }) => number)).toEqual(segments.map((_, index) => index + 1));
    return ordered.map(({ payload }) => decode(payload)).join("");
  }

  /** Letters, digits, stops and the euro sign, which is all these texts hold of the alphabet (3GPP TS 23.038 §6.2.1). */
  const fromGsm7 = (octets: Uint8Array) => Buffer.from(octets).toString("latin1").replaceAll("\x1be", "€");
  const fromUcs2 = (octets: Uint8Array) => Buffer.from(octets).swap16().toString("utf16le");

  test("a long GSM-7 text comes out whole, and no character of two septets is cut in two", async () => {
    const text = `${"a".repeat(152)}€${"b".repeat(151)}€ and the end.`;
    await sent(text);
    expect(smsc.submits.map(({ dataCoding }) => dataCoding)).toEqual([0, 0, 0]);
    expect(smsc.submits.map(({ shortMessage }) => shortMessage.length <= 159)).toEqual([true, true, true]);
    expect(join(fromGsm7)).toBe(text);
  });

  test("a long text in another script goes as UCS-2 and comes out whole, and no surrogate pair is cut in two", async () => {
    const text = `${"न".repeat(66)}🚚${"म".repeat(65)}🚚 समाप्त`;
    await sent(text);
    expect(smsc.submits.map(({ dataCoding }) => dataCoding)).toEqual([8, 8, 8]);
    expect(smsc.submits.map(({ shortMessage }) => shortMessage.length <= 140)).toEqual([true, true, true]);
    expect(join(fromUcs2)).toBe(text);
  });

  test("a text of 160 GSM-7 characters is one segment without a header, and one of 161 is two", async () => {
    await sent("x".repeat(160));
    expect(smsc.submits.map(({ esmClass }) => esmClass & 0x40)).toEqual([0]);
    await sent("x".repeat(161));
    expect(smsc.submits.map(({ esmClass }) => esmClass & 0x40)).toEqual([0, 0x40, 0x40]);
  });

  test("a message of three segments is delivered only when the receipts of all three are in", async () => {
    const { message } = await sent("x".repeat(400));
    for (const submit of smsc.submits.toReversed()) {
      expect(await postrider.status(message)).toBe("sent");
      expect(await smsc.sendReceipt(submit)).toBe(0);
    }
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("the worst of the segments' final states is the message's", async () => {
    const { message, live } = await sent("x".repeat(400));
    const [a, b, c] = smsc.submits;
    await smsc.sendReceipt(a!, "DELIVRD");
    await smsc.sendReceipt(b!, "UNDELIV");
    expect(await postrider.status(message)).toBe("sent");
    await smsc.sendReceipt(c!, "DELIVRD");
    expect(await postrider.status(message)).toBe("undelivered");

    await smsc.sendReceipt(b!, "DELIVRD");
    expect(await postrider.status(message)).toBe("undelivered");
    expect((await live.timeline(message)).at(-1)).toMatchObject({
      kind: "late_receipt",
      status: "undelivered",
    });
  });

  test("receipts that come before the answers to their submit_sm are kept for them", async () => {
    smsc.dial.receipts = "early";
    const live = await openLiveSms(postrider, { connectors: [connector], body: "x".repeat(400) });
    const message = await live.send("+14155550502");
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
    expect(smsc.submits).toHaveLength(3);
  });

  test("a segment that was only put off is sent again alone", async () => {
    smsc.dial.submitStatus = () => (smsc.submits.length === 1 ? 0x08 : 0);
    const live = await openLiveSms(postrider, { connectors: [connector], body: "x".repeat(400) });
    const message = await live.send("+14155550503");
    await postrider.reached(message, "sent");
    const numbers = smsc.submits.map((submit) => toSegment(submit).number);
    expect(numbers).toEqual([1, 2, 3, 2]);
    for (const submit of smsc.submits) if (submit.messageId) await smsc.sendReceipt(submit);
    expect(await postrider.status(message)).toBe("delivered");
  });

  test.each(["udh16", "sar", "payload"])(
    "a message goes on as it began where `concat` is set to %s meanwhile",
    async (concat) => {
      smsc.dial.submitStatus = () => (smsc.submits.length === 1 ? 0x08 : 0);
      const body = `${"a".repeat(200)}${"b".repeat(200)}`;
      const live = await openLiveSms(postrider, { connectors: [connector], body });
      const message = await live.send("+14155550504");
      await postrider.passUntil(() => smsc.submits.length === 3, 10_000);
      await admin(postrider, `/connectors/${connector}`, { config: { concat } }, "PATCH");
      expect(await postrider.reached(message, "sent", "failed")).toBe("sent");
      const taken = smsc.submits.filter(({ messageId }) => messageId !== "");
      expect(join(fromGsm7, taken)).toBe(body);
    },
  );
});
