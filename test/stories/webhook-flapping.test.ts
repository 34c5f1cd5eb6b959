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

  test("a receiver that fails every other minute of an hour gets everything, and sees what it took once", async () => {
    const taken: string[] = [];
    const startedAt = rig.service.now();
    rig.receiver.behave((delivery) => {
      const minute = Math.floor((rig.service.now() - startedAt) / 60_000);
      // Later it takes all: the waits vary, and one in some hundred events would meet bad minutes only.
      if (minute < 60 && minute % 2 === 0) return BEHAVIOURS.error;
      taken.push(String(delivery.headers["webhook-id"]));
      return BEHAVIOURS.ok;
    });
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) ids.push(await rig.sms());
    for (const id of ids) await rig.until(id, ["delivered", "delivered"], 4 * 60 * 60_000);
    expect([...taken].sort()).toEqual(ids.flatMap((id) => [`evt_${id}_1`, `evt_${id}_2`]).sort());
    expect(rig.receiver.deliveries.map(({ problem }) => problem)).not.toContain("no signature fits");
  });
});
