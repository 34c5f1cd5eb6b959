import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("each change of status arrives once, signed, in order, with the metadata of its message", async () => {
    const metadata = { order: "7", note: "नमस्ते 👪" };
    const id = await rig.sms(undefined, { metadata, tags: ["otp"] });
    await rig.until(id, ["delivered", "delivered"]);
    const bodies = rig.receiver.deliveries.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ type, data }) => [type, data.sequence, data.status])).toEqual([
      ["sms.sent", 1, "sent"],
      ["sms.delivered", 2, "delivered"],
    ]);
    for (const { data } of bodies) expect(data).toMatchObject({ message_id: id, metadata, tags: ["otp"] });
    expect(rig.receiver.deliveries.map(({ problem }) => problem)).toEqual([undefined, undefined]);
    expect(rig.receiver.deliveries.map(({ headers }) => headers["webhook-id"])).toEqual([
      `evt_${id}_1`,
      `evt_${id}_2`,
    ]);
  });
});
