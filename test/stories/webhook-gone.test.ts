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

  test("410 ends an event at once; it can be replayed, and other URLs of the host are not touched", async () => {
    rig.receiver.behave(({ path }) => (path === "/old" ? BEHAVIOURS.gone : BEHAVIOURS.ok));
    const old = await rig.sms(rig.receiver.url({ path: "/old" }));
    const [first] = await rig.until(old, ["failed", "failed"]);
    expect(first?.failures).toBe(1);
    const logged = rig.service.logged.find(({ msg }) => msg === "a webhook has failed");
    expect(logged).toMatchObject({
      account_id: rig.service.sandbox.account_id,
      webhook: first?.id,
      status: 410,
      failures: 1,
    });
    const current = await rig.sms(rig.receiver.url({ path: "/new" }));
    await rig.until(current, ["delivered", "delivered"]);
    rig.service.leap(24 * 3_600_000);
    await rig.service.pass(5_000);
    expect(rig.receiver.deliveries.filter(({ path }) => path === "/old")).toHaveLength(2);
    rig.receiver.behave(BEHAVIOURS.ok);
    await admin(rig.service, `/webhooks/${first!.id}/replay`, {});
    await rig.until(old, ["delivered", "failed"]);
  });

  test("a host that answers 410 to event after event is logged at once, and then once a minute with their count", async () => {
    rig.receiver.behave(BEHAVIOURS.gone);
    const counts = () =>
      rig.service.logged.flatMap(({ msg, count }) => (msg === "a webhook has failed" ? [count] : []));
    const fail = async () => rig.until(await rig.sms(rig.receiver.url()), ["failed", "failed"]);
    for (let sent = 0; sent < 3; sent++) await fail();
    expect(counts()).toEqual([1]);
    await rig.service.pass(60_000);
    await fail();
    expect(counts()).toEqual([1, 6]);
  });

  test("URLs that are gone do not narrow the way to others of their host", async () => {
    rig.receiver.behave(({ path }) => (path === "/old" ? BEHAVIOURS.gone : BEHAVIOURS.silent));
    for (let sent = 0; sent < 5; sent++)
      await rig.until(await rig.sms(rig.receiver.url({ path: "/old" })), ["failed", "failed"]);
    for (let sent = 0; sent < 8; sent++) await rig.sms(rig.receiver.url({ path: "/new" }));
    const underWay = () => rig.receiver.deliveries.filter(({ path }) => path === "/new").length;
    await rig.service.passUntil(() => underWay() === 8, 10_000);
  });
});
