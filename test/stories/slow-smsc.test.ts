/** The SMSC is slow: it answers each submit_sm, but later than the connector waits for an answer. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, IMPATIENT, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  const WINDOW = 10;

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

  const NUMBERS = Array.from({ length: 25 }, (_, index) => `+141555510${index + 10}`);

  /** Sends a message to each number over this connector. */
  async function sendToAll(config: Record<string, unknown>, settings: Record<string, string> = {}) {
    const connector = await connectSmsc(postrider, smsc, { ...config, window: WINDOW });
    const live = await openLiveSms(postrider, { connectors: [connector], settings });
    const body = { to: NUMBERS, template_id: live.templateId };
    expect(await send(postrider, { ...live, path: "/v1/sms/messages", body })).toMatchObject({ status: 202 });
    return live;
  }

  /** Whether all of them are `sent`. */
  async function areAllSent({ accountId }: LiveSms): Promise<boolean> {
    const at = `/messages?account_id=${accountId}&channel=sms&status=sent&limit=100`;
    return (await admin<{ data: readonly unknown[] }>(postrider, at)).data.length === NUMBERS.length;
  }

  const numbersSentTo = () => smsc.submits.map(({ destination }) => `+${destination.address}`).sort();

  test("an SMSC that answers a message a second gets each message once, and no more than its window at a time", async () => {
    const live = await sendToAll(IMPATIENT);
    let answered = 0;
    await postrider.passUntil(() => smsc.submits.length === WINDOW, 5_000);
    while (answered < NUMBERS.length) {
      expect(smsc.submits.length - answered).toBeLessThanOrEqual(WINDOW);
      await postrider.passUntil(() => smsc.submits.length > answered, 10_000);
      smsc.answerNext();
      answered++;
      await postrider.pass(1_000);
    }
    await postrider.passUntil(() => areAllSent(live), 10_000);
    expect(numbersSentTo()).toEqual(NUMBERS);
  });

  test("an SMSC that always answers later than twice the time for it keeps its session, and each held message is sent by its late answer", async () => {
    const live = await sendToAll({ response_timeout_ms: 10_000 }, { on_unconfirmed: "hold" });
    const due: number[] = [];
    const answerWhatIsDue = () => {
      while (due.length < smsc.submits.length) due.push(postrider.now() + 25_000);
      while ((due[answered] ?? Number.POSITIVE_INFINITY) <= postrider.now() && smsc.answerNext()) answered++;
      return answered === NUMBERS.length;
    };
    let answered = 0;
    await postrider.passUntil(answerWhatIsDue, 300_000);
    await postrider.passUntil(() => areAllSent(live), 10_000);
    expect(numbersSentTo()).toEqual(NUMBERS);
    expect(smsc.binds).toHaveLength(1);
  });
});
