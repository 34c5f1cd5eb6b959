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

  test("an answer within 15 s counts, one that takes longer is tried again", async () => {
    const answer = Promise.withResolvers<void>();
    const { receiver, service } = rig;
    receiver.behave((_, index) =>
      index === 0 ? { kind: "later", when: answer.promise } : BEHAVIOURS.silent,
    );
    const id = await rig.sms();
    await service.passUntil(() => receiver.deliveries.length === 1, 60_000);
    await service.pass(14_000);
    answer.resolve();
    await service.passUntil(() => receiver.deliveries.length === 2, 900);
    const [first, second] = await rig.events(id);
    expect(first?.state).toBe("delivered");
    expect((await rig.attempts(first!.id))[0]?.latency_ms).toBeGreaterThanOrEqual(14_000);
    await rig.until(id, ["delivered", "waiting"], 16_000);
    expect(await rig.attempts(second!.id)).toMatchObject([
      { latency_ms: 15_000, error: { code: "timeout" } },
    ]);
  });

  test("hosts that never answer hold up nobody else", async () => {
    const silent = await rig.addReceiver();
    silent.behave(BEHAVIOURS.silent);
    for (let n = 0; n < 40; n++) await rig.sms(silent.url({ name: `dead-${n}.hooks.test` }));
    await rig.service.passUntil(() => silent.deliveries.length >= 40, 60_000);
    const id = await rig.sms();
    const startedAt = rig.service.now();
    await rig.until(id, ["delivered", "delivered"], 10_000);
    expect(rig.service.now() - startedAt).toBeLessThan(10_000);
  });
});
