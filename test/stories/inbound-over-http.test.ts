/** A handset writes, and an HTTP gateway hands it on: listed, told to the account, and heeded. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { HANDSET, inbound, NUMBER, ownNumber } from "../live-inbound.ts";
import { type LiveSms, openLiveSms } from "../live-sms.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

onBothStores(() => {
  let rig: WebhookRig;
  let gateway: FakeGateway;
  let live: LiveSms;
  let callbackUrl: string;

  beforeEach(async () => {
    [rig, gateway] = await Promise.all([
      startWebhookRig(),
      startFakeGateway({ status: 200, body: { messages: [{ status: "0", "message-id": "m-1" }] } }),
    ]);
    const { connector_id, callback_path } = await admin<Record<string, string>>(rig.service, "/connectors", {
      kind: "http",
      name: "vonage",
      config: { provider: "vonage", base_url: gateway.url, api_key: "k", api_secret: "s" },
    });
    callbackUrl = rig.service.url + callback_path;
    live = await openLiveSms(rig.service, { connectors: [connector_id ?? ""], from: NUMBER });
    await ownNumber(rig.service, live.accountId);
  });

  afterEach(async () => {
    await gateway.close();
    await rig.stop();
  });

  let texts = 0;

  /** As Vonage hands on what a handset wrote; the provider repeats it until it is answered. */
  async function write(text: string, messageId = `0A${++texts}`, to = NUMBER.slice(1)): Promise<number> {
    const body = JSON.stringify({ msisdn: HANDSET.slice(1), to, messageId, text, type: "text" });
    const headers = { "Content-Type": "application/json" };
    return (await fetch(callbackUrl, { method: "POST", headers, body })).status;
  }

  const list = () => inbound(rig.service, live.apiKey);

  async function receiver() {
    const { secrets } = await admin<{ secrets: { secret: string }[] }>(
      rig.service,
      `/webhooks/secret?account_id=${live.accountId}`,
    );
    const made = await rig.addReceiver({ secret: secrets[0]?.secret ?? "" });
    const path = `/settings/inbound_url?account_id=${live.accountId}`;
    await admin(rig.service, path, { value: made.url({ path: "/in" }) }, "PUT");
    return made;
  }

  test("an address that no database can hold does not keep a message from being stored", async () => {
    // The last is cut to 32 units, in the middle of a character.
    const strange = ["A\0B", "\ud800", "\0", `A${"😀".repeat(20)}`];
    for (const to of strange) expect([to, await write("Hello", undefined, to)]).toEqual([to, 200]);
    const { data } = await admin<{ data: { to: string }[] }>(rig.service, "/inbound-messages");
    const cut = `A${"😀".repeat(15)}\ufffd`;
    expect(data.map(({ to }) => to)).toEqual([cut, "", "\ufffd", "AB"]);
  });

  test("what a handset writes is listed once, told by a signed webhook, and answered only when it is stored", async () => {
    const hooks = await receiver();
    expect(await write("When do you open?", "0A77")).toBe(200);
    expect(await list()).toMatchObject([
      { from: HANDSET, to: NUMBER, text: "When do you open?", segments: 1 },
    ]);
    expect(await write("When do you open?", "0A77")).toBe(200);
    expect(await list()).toHaveLength(1);
    await rig.service.passUntil(() => hooks.deliveries.length > 0, 10_000);
    await rig.service.pass(5_000);
    const [delivery, another] = hooks.deliveries;
    expect(another).toBeUndefined();
    expect([delivery?.path, delivery?.problem]).toEqual(["/in", undefined]);
    const [{ message_id } = { message_id: "" }] = await list();
    expect(JSON.parse(delivery?.body ?? "{}")).toMatchObject({
      type: "sms.received",
      data: { message_id, account_id: live.accountId, from: HANDSET, to: NUMBER, text: "When do you open?" },
    });
  });

  test("a STOP that comes this way is heeded", async () => {
    const ask = () =>
      send(rig.service, {
        apiKey: live.apiKey,
        path: "/v1/sms/messages",
        body: { to: HANDSET, template_id: live.templateId },
      });
    expect(await write("Stop")).toBe(200);
    await rig.service.pass(1_000);
    expect((await ask()).body.details).toEqual({ to: "has opted out of messages from this sender" });
    expect(await write("START")).toBe(200);
    await rig.service.pass(1_000);
    expect((await ask()).status).toBe(202);
  });

  test("with another token nothing is stored", async () => {
    callbackUrl = `${callbackUrl}x`;
    expect(await write("hello")).toBe(404);
    expect(await list()).toEqual([]);
  });
});
