/** Two SMSCs have been sent a message, one after the other, and neither has answered: whichever delivers it says so. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import type { FakeSmsc } from "../fakes/fake-smsc.ts";
import type { MessageAt } from "../held-postrider.ts";
import { giveUpOn, IMPATIENT } from "../live-sms.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  let two: TwoSmscs;
  let message: MessageAt;

  beforeEach(async () => {
    two = await openTwoSmscs(() => ({ failover: "always" }), { ...IMPATIENT, user_message_reference: true });
    const { first, second, postrider } = two;
    for (const { dial } of [first, second]) {
      dial.holdSubmits = true;
      dial.receipts = "none";
    }
    message = await two.live.send("+14155550997");
    await giveUpOn(1, { postrider, smsc: first });
    await two.changeRoute(([one, other]) => ({ connector_ids: [other, one] }));
    await postrider.passUntil(() => second.submits.length === 1, 20_000);
    await giveUpOn(1, { postrider, smsc: second });
    await postrider.reached(message, "queued");
  });

  afterEach(() => two.close());

  const tell = (smsc: FakeSmsc, state: string) =>
    smsc.sendReceipt({ ...smsc.submits[0]!, messageId: `F00D${smsc.port}` }, state);

  test("the first one's receipt delivers it, and it is not sent again", async () => {
    expect(await tell(two.first, "DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    expect(await tell(two.second, "UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    await two.postrider.pass(60_000);
    expect([two.first.submits.length, two.second.submits.length]).toEqual([1, 1]);
    const metrics = await (await fetch(`${two.postrider.url}/metrics`)).text();
    expect(metrics).toContain("postrider_receipts_parked 0");
  });

  test("that the first did not deliver it decides nothing, since the second may", async () => {
    expect(await tell(two.first, "UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("queued");
    expect(await tell(two.second, "DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
  });

  test("that the first did not deliver it decides nothing if it had said that the message was on its way", async () => {
    expect(await tell(two.first, "ENROUTE")).toBe(0);
    expect(await two.postrider.status(message)).toBe("sent");
    expect(await tell(two.first, "UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("sent");
    expect(await tell(two.second, "DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
  });
});
