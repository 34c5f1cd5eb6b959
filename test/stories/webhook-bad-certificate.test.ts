import { afterEach, beforeEach, expect, test } from "bun:test";
import { onBothStores } from "../both-stores.ts";
import { hooksTls } from "../fakes/hooks-tls.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("a certificate of another name is no receiver, whatever is behind it", async () => {
    const id = await rig.sms(rig.receiver.url({ name: "bank.test" }));
    const [first] = await rig.until(id, ["waiting", "held"]);
    expect((await rig.attempts(first!.id))[0]?.error?.code).toBe("tls");
    expect(rig.receiver.deliveries).toEqual([]);
  });

  test("a certificate of an unknown authority fails until the operator names the authority", async () => {
    await rig.set("webhook_ca", null);
    const id = await rig.sms();
    const [first] = await rig.until(id, ["waiting", "held"]);
    expect((await rig.attempts(first!.id))[0]?.error).toMatchObject({
      code: "tls",
      message: expect.stringContaining(
        "; if an authority of your own signed it, add that to the setting webhook_ca",
      ),
    });
    expect(rig.receiver.deliveries).toEqual([]);
    await rig.set("webhook_ca", hooksTls.ca);
    // Settings are read again after a second.
    await rig.service.pass(1_100);
    await rig.until(id, ["delivered", "delivered"]);
  });
});
