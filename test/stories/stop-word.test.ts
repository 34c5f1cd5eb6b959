/** Somebody writes STOP: nothing goes there any more, what is in the queue included, until START. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { HANDSET, NUMBER, ownNumber, write } from "../live-inbound.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "after" })]);
    const connector = await connectSmsc(postrider, smsc, { source_addr: NUMBER.slice(1) });
    live = await openLiveSms(postrider, { connectors: [connector], from: NUMBER });
    await ownNumber(postrider, live.accountId);
    await postrider.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const ask = async (to: string) =>
    send(postrider, {
      apiKey: live.apiKey,
      path: "/v1/sms/messages",
      body: { to, template_id: live.templateId },
    });

  test("after a STOP a message to that handset is refused, one to another is not, and START ends it", async () => {
    expect(await postrider.reached(await live.send(HANDSET), "delivered")).toBe("delivered");
    expect(await write(smsc, " Stop. ")).toBe(0);
    await postrider.pass(1_000);
    const refused = await ask(HANDSET);
    expect(refused.status).toBe(400);
    expect(refused.body.details).toEqual({ to: "has opted out of messages from this sender" });
    expect((await ask("+14155550777")).status).toBe(202);
    expect(await write(smsc, "START")).toBe(0);
    await postrider.pass(1_000);
    expect(await postrider.reached(await live.send(HANDSET), "delivered")).toBe("delivered");
  });

  test("a message that was in the queue when the STOP came fails, and never reaches the wire", async () => {
    const inAMinute = new Date(postrider.now() + 60_000).toISOString();
    const waiting = await live.send(HANDSET, { schedule_at: inAMinute });
    expect(await write(smsc, "STOP")).toBe(0);
    expect(await postrider.reached({ ...waiting, withinMs: 120_000 }, "failed", "delivered")).toBe("failed");
    const last = (await live.timeline(waiting)).at(-1);
    expect(last?.error).toMatchObject({ code: "opted_out" });
    expect(smsc.submits).toEqual([]);
  });

  test("a message that the STOP may be the answer to is not sent again, and not said to have been kept back", async () => {
    smsc.dial.drop = "before answer";
    const lost = await live.send(HANDSET, { expire_after_seconds: 300 });
    await smsc.until(() => smsc.submits.length === 1 && smsc.connections() === 0);
    delete smsc.dial.drop;
    await postrider.passUntil(() => smsc.bound().length > 0, 4_000);
    expect(await write(smsc, "STOP")).toBe(0);
    await postrider.pass(60_000);
    expect(await postrider.status(lost)).toBe("sending");
    expect(await postrider.reached({ ...lost, withinMs: 300_000 }, "failed", "delivered")).toBe("failed");
    expect((await live.timeline(lost)).at(-1)?.error).toMatchObject({ code: "unconfirmed" });
    expect(smsc.submits).toHaveLength(1);
  });

  test("a STOP to a number that a connector sends from by itself counts for messages that name no sender", async () => {
    const [sender] = (await admin<{ data: { id: string }[] }>(postrider, "/senders")).data;
    await admin(postrider, `/senders/${sender?.id}`, undefined, "DELETE");
    const inAMinute = new Date(postrider.now() + 60_000).toISOString();
    const waiting = await live.send(HANDSET, { schedule_at: inAMinute });
    expect(await write(smsc, "STOP")).toBe(0);
    await postrider.pass(1_000);
    expect((await ask(HANDSET)).body.details).toEqual({
      to: "has opted out of messages from the account, or from one of its senders, and no sender is named",
    });
    expect(await postrider.reached({ ...waiting, withinMs: 120_000 }, "failed", "delivered")).toBe("failed");
    const last = (await live.timeline(waiting)).at(-1);
    expect(last?.error?.message).toEndWith("or, if none is named, from one that the account has");
    expect(smsc.submits).toEqual([]);
    expect(await write(smsc, "START")).toBe(0);
    await postrider.pass(1_000);
    expect((await ask(HANDSET)).status).toBe(202);
  });

  test("words that only contain a stop word are what they are", async () => {
    expect(await write(smsc, "please stop calling, HELP")).toBe(0);
    expect(await write(smsc, "HELP")).toBe(0);
    await postrider.pass(1_000);
    expect((await ask(HANDSET)).status).toBe(202);
  });
});
