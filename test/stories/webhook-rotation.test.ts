import { afterEach, beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import type { Delivery } from "../fakes/fake-webhook-receiver.ts";
import { newestSecret, startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  /** As receivers do it. The library compares with the machine's clock, which is not the one that is held. */
  function isVerifiedBy(secret: string, { headers, body }: Delivery): boolean {
    const sentAt = Number(headers["webhook-timestamp"]) * 1_000;
    const realNow = Date.now;
    Date.now = () => sentAt;
    try {
      new Webhook(secret).verify(body, headers as Record<string, string>);
      return true;
    } catch {
      return false;
    } finally {
      Date.now = realNow;
    }
  }

  test("a receiver may know either secret while they are exchanged, and only the newest two count", async () => {
    const { receiver, service } = rig;
    const rotate = async () => {
      const query = `account_id=${service.sandbox.account_id}`;
      const { secrets } = await admin<{ secrets: { created_at: string }[] }>(
        service,
        `/webhooks/secret?${query}`,
      );
      await admin(service, `/webhooks/secret/rotate?${query}&newest=${secrets[0]?.created_at}`, {});
      return newestSecret(service);
    };
    const deliverOne = async () => {
      const id = await rig.sms();
      await rig.until(id, ["delivered", "delivered"]);
      return receiver.deliveries.at(-1)!;
    };
    const first = rig.secret;
    const before = await deliverOne();
    expect(String(before.headers["webhook-signature"]).split(" ")).toHaveLength(1);
    expect(isVerifiedBy(first, before)).toBe(true);

    const second = await rotate();
    await service.pass(1_000);
    const during = await deliverOne();
    expect([first, second].map((secret) => isVerifiedBy(secret, during))).toEqual([true, true]);

    const third = await rotate();
    await service.pass(1_000);
    const after = await deliverOne();
    expect([first, second, third].map((secret) => isVerifiedBy(secret, after))).toEqual([false, true, true]);
  });

  test("the reference library finds a changed body and a changed id", async () => {
    const id = await rig.sms(undefined, { metadata: { note: "नमस्ते 👪" } });
    await rig.until(id, ["delivered", "delivered"]);
    const [delivery] = rig.receiver.deliveries;
    expect(isVerifiedBy(rig.secret, delivery!)).toBe(true);
    expect(isVerifiedBy(rig.secret, { ...delivery!, body: `${delivery!.body} ` })).toBe(false);
    const headers = { ...delivery!.headers, "webhook-id": `evt_${id}_9` };
    expect(isVerifiedBy(rig.secret, { ...delivery!, headers })).toBe(false);
  });
});
