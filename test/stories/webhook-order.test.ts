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

  test("a message's events come in order, until one of them has failed twice", async () => {
    rig.receiver.behave(({ body }) =>
      JSON.parse(body).data.sequence === 1 ? BEHAVIOURS.error : BEHAVIOURS.ok,
    );
    const id = await rig.sms();
    await rig.until(id, ["waiting", "held"]);
    const [first] = await rig.until(id, ["waiting", "delivered"], 30_000);
    expect(first?.failures).toBe(2);
    const sequences = rig.receiver.deliveries.map(({ body }) => JSON.parse(body).data.sequence);
    expect(sequences).toEqual([1, 1, 2]);
    rig.receiver.behave(BEHAVIOURS.ok);
    await rig.until(id, ["delivered", "delivered"], 120_000);
  });
});
