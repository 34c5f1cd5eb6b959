import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  test("a receiver that asks for two minutes is left alone for two minutes", async () => {
    const askedAt: number[] = [];
    rig.receiver.behave((_, index) => {
      askedAt.push(rig.service.now());
      return index === 0 ? BEHAVIOURS.throttled : BEHAVIOURS.ok;
    });
    const id = await rig.sms();
    await rig.until(id, ["waiting", "held"]);
    await rig.service.pass(118_000);
    await rig.until(id, ["delivered", "delivered"]);
    const [first = 0, second = 0] = askedAt;
    expect(second - first).toBeGreaterThanOrEqual(120_000);
  });

  test("a receiver that limits its rate and does not say for how long takes a backlog without using up the tries of its events", async () => {
    let room = 5;
    let at = rig.service.now();
    rig.receiver.behave(() => {
      room = Math.min(5, room + ((rig.service.now() - at) / 1_000) * 2);
      at = rig.service.now();
      if (room < 1) return { kind: "answer", status: 429 };
      room--;
      return BEHAVIOURS.ok;
    });
    const ids: string[] = [];
    for (let each = 0; each < 40; each++) ids.push(await rig.sms());
    const last = ids.at(-1) ?? "";
    await rig.until(last, ["delivered", "delivered"], 300_000);
    for (const id of ids) await rig.until(id, ["delivered", "delivered"], 300_000);
    expect(rig.receiver.deliveries.length).toBeLessThan(3 * 80);
  });

  test("its other events wait no longer than a minute, and meanwhile its host is shown as paused", async () => {
    rig.receiver.behave((_, index) => (index === 0 ? BEHAVIOURS.throttled : BEHAVIOURS.ok));
    const first = await rig.sms();
    await rig.until(first, ["waiting", "held"]);
    const { data } = await admin<{ data: { paused_until: string }[] }>(rig.service, "/webhooks/hosts");
    expect(data).toMatchObject([
      { host: `hooks.test:${rig.receiver.port}`, reason: "status 429", failures: 1 },
    ]);
    const logged = rig.service.logged.find(({ msg }) => msg === "webhooks to a host are paused");
    expect(logged).toMatchObject({
      account_id: rig.service.sandbox.account_id,
      paused_until: data[0]?.paused_until,
    });
    const second = await rig.sms();
    await rig.service.pass(58_000);
    expect(rig.receiver.deliveries).toHaveLength(1);
    await rig.until(second, ["delivered", "delivered"], 5_000);
    expect(await admin(rig.service, "/webhooks/hosts")).toEqual({ data: [], is_delivering: true });
  });
});
