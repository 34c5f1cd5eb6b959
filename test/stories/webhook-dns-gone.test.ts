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

  test("a name that is gone from the DNS fails, and is found again when it is back", async () => {
    const name = "moved.hooks.test";
    rig.dns.a.set(name, []);
    const id = await rig.sms(rig.receiver.url({ name }));
    const [first] = await rig.until(id, ["waiting", "held"]);
    expect((await rig.attempts(first!.id))[0]?.error?.code).toBe("dns");
    rig.dns.a.set(name, ["127.0.0.1"]);
    await rig.until(id, ["delivered", "delivered"], 10 * 60_000);
  });

  test("every try asks anew: a name that had no address is reached at the next one", async () => {
    const name = "empty.hooks.test";
    rig.dns.txt.set(name, "there, but without an address");
    rig.dns.a.set(name, []);
    const id = await rig.sms(rig.receiver.url({ name }));
    const [first] = await rig.until(id, ["waiting", "held"]);
    rig.dns.a.set(name, ["127.0.0.1"]);
    await rig.until(id, ["delivered", "delivered"], 10 * 60_000);
    expect((await rig.attempts(first!.id)).map(({ status, error }) => status ?? error?.code)).toEqual([
      "dns",
      200,
    ]);
  });

  test("a name that begins to lead inside is refused at the next try", async () => {
    const name = "rebinding.hooks.test";
    rig.receiver.behave(BEHAVIOURS.error);
    const id = await rig.sms(rig.receiver.url({ name }));
    await rig.until(id, ["waiting", "held"]);
    rig.dns.a.set(name, ["127.0.0.1", "10.0.0.1"]);
    await rig.until(id, ["waiting", "waiting"], 5 * 60_000);
    const [first] = await rig.events(id);
    expect((await rig.attempts(first!.id)).map(({ status, error }) => status ?? error?.code)).toEqual([
      500,
      "refused_address",
    ]);
  });

  test("without a range that allows it nothing on this machine is reached", async () => {
    await rig.set("webhook_allowed_ranges", null);
    const id = await rig.sms();
    const [first] = await rig.until(id, ["waiting", "held"]);
    expect((await rig.attempts(first!.id))[0]?.error).toEqual({
      code: "refused_address",
      message: `hooks.test leads to 127.0.0.1, which is in 127.0.0.0/8: ${ALLOWED_BY}`,
    });
    expect(rig.receiver.connections()).toBe(0);
    const body = { account_id: rig.service.sandbox.account_id, url: "https://10.0.0.1/hook" };
    expect(await admin(rig.service, "/webhooks/test", body)).toMatchObject({
      ok: false,
      error: { message: `10.0.0.1 is in 10.0.0.0/8: ${ALLOWED_BY}` },
    });
  });

  test("once its range is no longer allowed a receiver gets nothing more, over a connection that is still open either", async () => {
    await rig.until(await rig.sms(), ["delivered", "delivered"]);
    const before = rig.receiver.deliveries.length;
    await rig.set("webhook_allowed_ranges", "10.0.0.0/8");
    // Settings are read again after a second.
    await rig.service.pass(1_100);
    const [first] = await rig.until(await rig.sms(), ["waiting", "held"]);
    expect((await rig.attempts(first!.id))[0]?.error?.code).toBe("refused_address");
    expect(rig.receiver.deliveries).toHaveLength(before);
  });
});

const ALLOWED_BY = "webhooks go there only if the setting webhook_allowed_ranges contains it";
