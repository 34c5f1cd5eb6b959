/** The SMSC writes the ids of messages in receipts otherwise than in its answers, and the connector is not set to that. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { type HeldPostrider, startHeldPostrider } from "../held-postrider.ts";
import { connectSmsc, type LiveSms, openLiveSms } from "../live-sms.ts";

onBothStores(() => {
  let postrider: HeldPostrider;
  let smsc: FakeSmsc;
  let connector: string;
  let live: LiveSms;

  beforeEach(async () => {
    [postrider, smsc] = await Promise.all([
      startHeldPostrider(),
      startFakeSmsc({ receipts: "none", ids: "hex, receipt decimal", receiptForm: "text" }),
    ]);
    connector = await connectSmsc(postrider, smsc);
    live = await openLiveSms(postrider, { connectors: [connector] });
  });

  afterEach(async () => {
    await smsc.close();
    await postrider.close();
  });

  const parked = async () =>
    (
      await admin<{ data: Record<string, unknown>[] }>(
        postrider,
        `/receipts/parked?connector_id=${connector}`,
      )
    ).data;

  test("the number decides: the message is delivered, and the timeline says that the id was another", async () => {
    const message = await live.send("+14155551301");
    await postrider.reached(message, "sent");
    await smsc.sendReceipt(smsc.submits[0]!);
    expect(await postrider.status(message)).toBe("delivered");
    expect((await live.timeline(message)).at(-1)?.detail).toMatchObject({ matched_by: "another_form" });
    expect(await parked()).toEqual([]);
  });

  test("the number decides where the receipt comes before the answer", async () => {
    smsc.dial.receipts = "early";
    const message = await live.send("+14155551302");
    expect(await postrider.reached(message, "delivered", "failed")).toBe("delivered");
  });

  test("without a number that agrees nothing is guessed: the receipt is parked, shown masked and counted", async () => {
    const message = await live.send("+14155551303");
    await postrider.reached(message, "sent");
    const submit = smsc.submits[0]!;
    const elsewhere = { ...submit.destination, address: "14155559999" };
    expect(await smsc.sendReceipt({ ...submit, destination: elsewhere })).toBe(0);
    expect(await postrider.status(message)).toBe("sent");
    const id = String(BigInt(`0x${submit.messageId}`));
    expect(await parked()).toMatchObject([
      { provider_message_id: id, recipient: "1415*****99", status: "delivered" },
    ]);
    const metrics = await (await fetch(`${postrider.url}/metrics`)).text();
    expect(metrics).toContain("postrider_receipts_parked 1");
  });
});
