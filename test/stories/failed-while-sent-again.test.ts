/** One SMSC says that it did not deliver a message, while another has just been sent it: that one's word is the last. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
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
    second.dial.writeId = (id) => `B${id}`;
    message = await two.live.send("+14155550996");
    await giveUpOn(1, { postrider, smsc: first });
    await two.changeRoute(([one, other]) => ({ connector_ids: [other, one] }));
    await postrider.passUntil(() => second.submits.length === 1, 20_000);
    expect(await postrider.status(message)).toBe("sending");
  });

  afterEach(() => two.close());

  test("the message is delivered if the other one delivers it", async () => {
    const { first, second, postrider } = two;
    expect(await first.sendReceipt({ ...first.submits[0]!, messageId: "F00D" }, "UNDELIV")).toBe(0);
    expect(await postrider.status(message)).toBe("sending");
    second.release();
    expect(await postrider.reached(message, "sent")).toBe("sent");
    expect(await second.sendReceipt(second.submits[0]!, "DELIVRD")).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("the failure of the first does not end the message if that one has answered meanwhile, too late", async () => {
    const { first, second, postrider } = two;
    first.release();
    await postrider.reached(message, "sent");
    second.release();
    await postrider.passUntil(async () => (await two.live.timeline(message)).length === 3, 10_000);
    expect(await first.sendReceipt(first.submits[0]!, "UNDELIV")).toBe(0);
    expect(await postrider.status(message)).toBe("sent");
    expect(await second.sendReceipt(second.submits[0]!, "DELIVRD")).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("the failure of the first does not end the message if that one has answered too late, and told of the failure before the other one answers", async () => {
    const { first, second, postrider } = two;
    first.release();
    await postrider.reached(message, "sent");
    expect(await first.sendReceipt(first.submits[0]!, "UNDELIV")).toBe(0);
    expect(await postrider.status(message)).toBe("sent");
    second.release();
    await postrider.passUntil(async () => (await two.live.timeline(message)).length === 4, 10_000);
    expect(await second.sendReceipt(second.submits[0]!, "DELIVRD")).toBe(0);
    expect(await postrider.status(message)).toBe("delivered");
  });

  test("the message is undelivered if the other one does not deliver it either", async () => {
    const { first, second, postrider } = two;
    expect(await first.sendReceipt({ ...first.submits[0]!, messageId: "F00D" }, "UNDELIV")).toBe(0);
    second.release();
    expect(await postrider.reached(message, "sent")).toBe("sent");
    expect(await second.sendReceipt(second.submits[0]!, "UNDELIV")).toBe(0);
    expect(await postrider.status(message)).toBe("undelivered");
  });
});
