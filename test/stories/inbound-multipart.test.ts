/** A long message from a handset comes in parts: in disorder, twice, or not all of them. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeSmsc, startFakeSmsc } from "../fakes/fake-smsc.ts";
import { HANDSET, inbound, ownNumber, writePart } from "../live-inbound.ts";
import { connectSmsc } from "../live-sms.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  let smsc: FakeSmsc;

  beforeEach(async () => {
    [rig, smsc] = await Promise.all([startWebhookRig(), startFakeSmsc()]);
    const { service } = rig;
    const { account_id } = service.sandbox;
    await connectSmsc(service, smsc);
    await ownNumber(service, account_id);
    const value = { value: rig.receiver.url({ path: "/in" }) };
    await admin(service, `/settings/inbound_url?account_id=${account_id}`, value, "PUT");
    await service.passUntil(() => smsc.bound().length > 0, 10_000);
  });

  afterEach(async () => {
    await smsc.close();
    await rig.stop();
  });

  const list = () => inbound(rig.service, rig.service.sandbox.api_key);

  test("parts in any order and twice make one message, listed once and told by one signed webhook", async () => {
    const parts = [
      ["c", 3],
      ["a\ud83d", 1],
      ["c", 3],
      ["\ude00b", 2],
      ["a\ud83d", 1],
    ] as const;
    for (const [text, number] of parts) expect(await writePart(smsc, text, [9, 3, number])).toBe(0);
    expect(await list()).toMatchObject([{ text: "a😀bc", segments: 3 }]);
    await rig.service.passUntil(() => rig.receiver.deliveries.length > 0, 10_000);
    await rig.service.pass(5_000);
    const [delivery, another] = rig.receiver.deliveries;
    expect(another).toBeUndefined();
    expect([delivery?.path, delivery?.problem]).toEqual(["/in", undefined]);
    const [{ message_id } = { message_id: "" }] = await list();
    expect(delivery?.headers["webhook-id"]).toBe(`evt_${message_id}_1`);
    expect(JSON.parse(delivery?.body ?? "{}")).toMatchObject({
      type: "sms.received",
      data: {
        message_id,
        from: HANDSET,
        to: "+14155550123",
        text: "a😀bc",
        segments: 3,
        encoding: "ucs2",
      },
    });
  });

  test("parts that come together behind the first ones complete their message, and none is missed", async () => {
    expect(await writePart(smsc, "1", [7, 6, 1])).toBe(0);
    const together = [2, 3, 4, 5].map((number) => writePart(smsc, `${number}`, [7, 6, number]));
    expect(await Promise.all(together)).toEqual([0, 0, 0, 0]);
    expect(await list()).toEqual([]);
    expect(await writePart(smsc, "6", [7, 6, 6])).toBe(0);
    expect(await list()).toMatchObject([{ text: "123456", segments: 6 }]);
  });

  test("messages that begin alike are told apart also where their sender gives all of them one reference", async () => {
    for (const end of ["first", "second", "second"]) {
      expect(await writePart(smsc, "Your parcel: ", [1, 2, 1])).toBe(0);
      expect(await writePart(smsc, end, [1, 2, 2])).toBe(0);
      await rig.service.pass(1_000);
    }
    expect((await list()).map(({ text }) => text)).toEqual([
      "Your parcel: second",
      "Your parcel: second",
      "Your parcel: first",
    ]);
  });

  test("parts that the SMSC delivers over two connectors of one account make one message", async () => {
    expect(await writePart(smsc, "a", [3, 3, 1])).toBe(0);
    const { host, port } = smsc;
    const config = { host, port, system_id: "acme", password: "secret" };
    await admin(rig.service, "/connectors", { kind: "smpp", name: "another", config });
    await rig.service.passUntil(() => smsc.bound().length > 1, 10_000);
    expect(await writePart(smsc, "c", [3, 3, 3])).toBe(0);
    expect(await writePart(smsc, "b", [3, 3, 2])).toBe(0);
    expect(await list()).toMatchObject([{ text: "abc", segments: 3 }]);
  });

  test("messages with one reference, in headers of 8 and 16 bits and in SAR parameters, are three messages", async () => {
    for (const number of [1, 2]) {
      await writePart(smsc, `eight${number}`, [7, 2, number]);
      await writePart(smsc, `sixteen${number}`, [7, 2, number], "udh16");
      await writePart(smsc, `sar${number}`, [7, 2, number], "sar");
    }
    const texts = (await list()).map(({ text }) => text);
    expect(texts.toSorted()).toEqual(["eight1eight2", "sar1sar2", "sixteen1sixteen2"]);
  });

  test("what there is of a message is shown when its other parts have not come for ten minutes", async () => {
    await writePart(smsc, "one ", [1, 3, 1]);
    await writePart(smsc, "three", [1, 3, 3]);
    await rig.service.pass(9 * 60_000);
    expect(await list()).toEqual([]);
    await rig.service.pass(2 * 60_000);
    expect(await list()).toMatchObject([{ text: "one …three", segments: 2, partial: true }]);
  });
});
