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

  test.each([
    ["a megabyte", BEHAVIOURS.huge],
    ["an endless", BEHAVIOURS.endless],
  ] as const)("%s answer is read so far, and its first 1,024 bytes are kept", async (_, behaviour) => {
    const readable = await rig.addReceiver();
    readable.behave(behaviour);
    const id = await rig.sms(readable.url());
    const [first] = await rig.until(id, ["delivered", "delivered"]);
    const [attempt] = await rig.attempts(first!.id);
    expect(attempt?.status).toBe(200);
    expect(attempt?.answer).toBe("x".repeat(1_024));
    expect(readable.deliveries).toHaveLength(2);
  });
});
