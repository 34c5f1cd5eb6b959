/** A route that always fails over has sent a message a second time: both copies are out, and both providers report. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import type { MessageAt } from "../held-postrider.ts";
import { openTwoSmscs, type TwoSmscs } from "../two-smscs.ts";

onBothStores(() => {
  let two: TwoSmscs;
  let message: MessageAt;

  beforeEach(async () => {
    two = await openTwoSmscs(() => ({ failover: "always" }), { user_message_reference: true });
    two.first.dial.receipts = "none";
    two.second.dial.receipts = "none";
    two.first.dial.drop = "before answer";
    two.first.dial.hangUp = true;
    message = await two.live.send("+14155550998");
    await two.first.until(() => two.first.submits.length === 1 && two.first.connections() === 0);
    await two.postrider.reached(message, "sent");
    expect(two.second.submits).toHaveLength(1);
    delete two.first.dial.drop;
    two.first.dial.hangUp = false;
    await two.is(two.first, "up");
  });

  afterEach(() => two.close());

  const fromFirst = (state: string) =>
    two.first.sendReceipt({ ...two.first.submits[0]!, messageId: "F00D" }, state);
  const fromSecond = (state: string) => two.second.sendReceipt(two.second.submits[0]!, state);

  async function lastEntries(count: number): Promise<readonly string[]> {
    return (await two.live.timeline(message)).slice(-count).map(({ kind, status }) => `${kind}:${status}`);
  }

  test("the receipt of the copy whose answer was lost delivers the message, and the other's changes nothing", async () => {
    expect(await fromFirst("DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    expect(await fromSecond("UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    expect(await lastEntries(2)).toEqual(["receipt:delivered", "late_receipt:delivered"]);
  });

  test("the receipt of the second copy delivers the message, and the first's changes nothing", async () => {
    expect(await fromSecond("DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    expect(await fromFirst("UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    const metrics = await (await fetch(`${two.postrider.url}/metrics`)).text();
    expect(metrics).toContain("postrider_receipts_parked 0");
  });

  test("that the first copy was not delivered decides nothing: the second is in another network, and may be", async () => {
    expect(await fromFirst("UNDELIV")).toBe(0);
    expect(await two.postrider.status(message)).toBe("sent");
    expect(await fromSecond("DELIVRD")).toBe(0);
    expect(await two.postrider.status(message)).toBe("delivered");
    expect(await lastEntries(2)).toEqual(["late_receipt:sent", "receipt:delivered"]);
  });
});
