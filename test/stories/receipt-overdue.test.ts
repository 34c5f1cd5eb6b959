/** The SMSC takes messages and sends no receipts for them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { COMMAND } from "../../src/channels/sms/smpp/wire/pdu.ts";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  const MINUTE = 60_000;

  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([startHeldPostrider(), startFakeSmsc({ receipts: "none" })]);
    await admin(postrider, "/settings/receipt_overdue_after_minutes", { value: "2" }, "PUT");
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  async function sent(to: string, config: Record<string, unknown> = {}) {
    connector = await connectSmsc(postrider, smsc, config);
    const live = await openLiveSms(postrider, { connectors: [connector] });
    const message = await live.send(to);
    await postrider.reached(message, "sent");
    const history = async () => (await live.timeline(message)).map(({ kind, status }) => `${kind}:${status}`);
    return { live, message, history };
  }

  const questions = () => smsc.others.filter(({ commandId }) => commandId === COMMAND.querySm).length;

  /** Time enough for a round of flagging and one of asking comes on top. */
  async function questionsAfter(ms: number): Promise<number> {
    postrider.leap(ms);
    await postrider.pass(16_000);
    return questions();
  }

  async function overdue(): Promise<string | undefined> {
    const metrics = await (await fetch(`${postrider.url}/metrics`)).text();
    return metrics
      .split("\n")
      .find((line) => line.startsWith(`postrider_receipts_overdue{connector="${connector}"`));
  }

  test("the message stays sent, flagged and counted, until its receipt comes after all", async () => {
    const { message, history } = await sent("+14155551101");
    postrider.leap(2 * MINUTE - 6_000);
    await postrider.pass(5_000);
    expect(await history()).toEqual(["attempt:sent"]);
    expect(await overdue()).toBeUndefined();
    await postrider.pass(10_000);
    expect(await postrider.status(message)).toBe("sent");
    expect(await history()).toEqual(["attempt:sent", "receipt_overdue:sent"]);
    expect(await overdue()).toEndWith(" 1");
    expect(questions()).toBe(0);
    await smsc.sendReceipt(smsc.submits[0]!);
    expect(await history()).toEqual(["attempt:sent", "receipt_overdue:sent", "receipt:delivered"]);
    expect(await overdue()).toBeUndefined();
  });

  test("an SMSC that can be asked is asked, ever more rarely, until it knows", async () => {
    smsc.dial.queryState = () => [1, 0];
    const { message, history } = await sent("+14155551102", { query_sm: true });
    expect(await questionsAfter(2 * MINUTE)).toBe(1);
    expect(await questionsAfter(4 * MINUTE)).toBe(1);
    expect(await questionsAfter(MINUTE)).toBe(2);
    expect(await questionsAfter(14 * MINUTE)).toBe(2);
    expect(await postrider.status(message)).toBe("sent");
    smsc.dial.queryState = (id) => (id === smsc.submits[0]!.messageId ? [2, 0] : undefined);
    expect(await postrider.reached({ ...message, withinMs: 2 * MINUTE }, "delivered")).toBe("delivered");
    expect(questions()).toBe(3);
    expect(await history()).toEqual(["attempt:sent", "receipt_overdue:sent", "receipt:delivered"]);
    expect(await overdue()).toBeUndefined();
  });

  test("where no receipts were asked for, none is missed", async () => {
    const { history } = await sent("+14155551103", { registered_delivery: 0 });
    postrider.leap(3 * MINUTE);
    await postrider.pass(6_000);
    expect(await history()).toEqual(["attempt:sent"]);
  });
});
