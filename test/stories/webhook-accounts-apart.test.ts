import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  beforeEach(async () => {
    rig = await startWebhookRig();
  });
  afterEach(() => rig.stop());

  /** Another account, with a sandbox of its own. */
  async function openAccount(): Promise<{ accountId: string; apiKey: string }> {
    const { account_id: accountId } = await admin<{ account_id: string }>(rig.service, "/accounts", {
      name: "Neighbour",
      mode: "sandbox",
    });
    const key = await admin<{ api_key: string }>(rig.service, "/keys", { account_id: accountId });
    return { accountId, apiKey: key.api_key };
  }

  test("one account cannot get a host paused for another", async () => {
    const neighbour = await openAccount();
    rig.receiver.behave(({ body }) =>
      JSON.parse(body).data.account_id === neighbour.accountId ? BEHAVIOURS.ok : BEHAVIOURS.error,
    );
    const hosts = () =>
      admin<{ data: { account_id: string; reason: string }[] }>(rig.service, "/webhooks/hosts");
    for (let n = 0; n < 6; n++) await rig.sms();
    await rig.service.passUntil(async () => (await hosts()).data.length === 1, 5 * 60_000);
    expect((await hosts()).data).toMatchObject([
      { account_id: rig.service.sandbox.account_id, reason: "status 500" },
    ]);
    const theirs = await send(rig.service, {
      apiKey: neighbour.apiKey,
      path: "/v1/sms/messages",
      body: { to: "+919812345679", dlt_template_id: "1107160000000000001", callback_url: rig.receiver.url() },
    });
    await rig.until(String(theirs.body.message_id), ["delivered", "delivered"], 10_000);
    expect(await hosts()).toMatchObject({ data: [{ account_id: rig.service.sandbox.account_id }] });

    // The pause ends by itself when the receiver is well again.
    rig.receiver.behave(BEHAVIOURS.ok);
    await rig.service.passUntil(async () => (await hosts()).data.length === 0, 15 * 60_000);
  });
});
