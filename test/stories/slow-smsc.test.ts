/** The SMSC is slow: it answers each submit_sm, but later than the connector waits for an answer. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, IMPATIENT, openLiveSms } from "../live-sms.ts";

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

  test("one that answers a message a second gets each message once, and no more than its window at a time", async () => {
    const connector = await connectSmsc(postrider, smsc, { ...IMPATIENT, window: WINDOW });
    const live = await openLiveSms(postrider, { connectors: [connector] });
    const to = Array.from({ length: 25 }, (_, index) => `+141555510${index + 10}`);
    const body = { to, template_id: live.templateId };
    expect(await send(postrider, { ...live, path: "/v1/sms/messages", body })).toMatchObject({ status: 202 });

    let answered = 0;
    const allSent = async () => {
      const at = `/messages?account_id=${live.accountId}&channel=sms&status=sent&limit=100`;
      return (await admin<{ data: readonly unknown[] }>(postrider, at)).data.length === to.length;
    };
    await postrider.passUntil(() => smsc.submits.length === WINDOW, 5_000);
    while (answered < to.length) {
      expect(smsc.submits.length - answered).toBeLessThanOrEqual(WINDOW);
      await postrider.passUntil(() => smsc.submits.length > answered, 10_000);
      smsc.answerNext();
      answered++;
      await postrider.pass(1_000);
    }
    await postrider.passUntil(allSent, 10_000);
    expect(smsc.submits.map(({ destination }) => `+${destination.address}`).sort()).toEqual(to);
  });
});
