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

  test("a receiver that says 200 and closes before the end of its answer has taken the event", async () => {
    rig.receiver.behave(BEHAVIOURS.okThenClose);
    const id = await rig.sms();
    const [first] = await rig.until(id, ["delivered", "delivered"]);
    expect(await rig.attempts(first!.id)).toMatchObject([{ status: 200, answer: "partial" }]);
    expect(rig.receiver.deliveries).toHaveLength(2);
  });

  test("a receiver that closes without an answer is asked again", async () => {
    rig.receiver.behave((_, index) => (index === 0 ? BEHAVIOURS.close : BEHAVIOURS.ok));
    const id = await rig.sms();
    const [first] = await rig.until(id, ["delivered", "delivered"]);
    expect(await rig.attempts(first!.id)).toMatchObject([{ error: { code: "closed" } }, { status: 200 }]);
  });
});
