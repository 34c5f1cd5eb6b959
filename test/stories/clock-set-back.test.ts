/** The wall clock was two hours ahead, and is set right while the service runs. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, type MessageAt, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

const AHEAD_MS = 2 * 3_600_000;

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "early" })]);
    live = await openLiveSms(postrider, { connectors: [await connectSmsc(postrider, smsc)] });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const kindsOf = async (message: MessageAt) =>
    (await live.timeline(message)).map(({ kind, status }) => `${kind} ${status}`);

  test("what an SMSC has is settled by its answer, and its receipt counts though it seems to be older than the message", async () => {
    smsc.dial.receipts = "none";
    smsc.dial.holdSubmits = true;
    const message = await live.send("+14155551931");
    await smsc.until(() => smsc.submits.length === 1);
    postrider.leap(-AHEAD_MS);
    await smsc.sendReceipt(smsc.submits[0]!);
    smsc.release();
    expect(await postrider.reached(message, "delivered", "failed", "expired")).toBe("delivered");
    expect(await kindsOf(message)).toEqual(["attempt sent", "receipt delivered"]);
  });

  test("later messages are as old as they are, are delivered at once, and are listed with the others", async () => {
    const before = await live.send("+14155551932");
    expect(await postrider.reached(before, "delivered", "failed")).toBe("delivered");
    postrider.leap(-AHEAD_MS);
    const sentAt = postrider.now();
    const message = await live.send("+14155551933", { expire_after_seconds: 60 });
    expect(await postrider.reached({ ...message, withinMs: 5_000 }, "delivered", "failed", "expired")).toBe(
      "delivered",
    );
    const headers = { Authorization: `Bearer ${message.apiKey}` };
    const get = async <T>(path: string) =>
      (await (await fetch(postrider.url + path, { headers })).json()) as T;
    const shown = await get<{ created_at: string }>(message.path);
    expect(Date.parse(shown.created_at)).toBe(sentAt);
    const listed = await get<{ data: { to: string }[] }>("/v1/sms/messages");
    expect(listed.data.map(({ to }) => to)).toEqual(["+14155551932", "+14155551933"]);
    expect(smsc.submits).toHaveLength(2);
  });
});
