import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("a redirect is not followed, and counts as a failure", async () => {
    const inside = await rig.addReceiver();
    const location = { location: inside.url({ path: "/inside" }) };
    rig.receiver.behave((_, index) =>
      index === 0 ? { ...BEHAVIOURS.redirect, headers: location } : BEHAVIOURS.ok,
    );
    const id = await rig.sms();
    const [first] = await rig.until(id, ["delivered", "delivered"]);
    expect((await rig.attempts(first!.id)).map(({ status }) => status)).toEqual([302, 200]);
    expect(inside.deliveries).toEqual([]);
  });
});
