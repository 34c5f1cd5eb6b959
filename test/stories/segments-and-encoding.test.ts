/** Whichever way an SMS goes out, its account learns what it was on the air: in the webhook and on the timeline. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { admin, send } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { startFakeGateway } from "../fakes/fake-gateway.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";

interface Planned {
  readonly encoding: string;
  readonly segments: number;
  readonly forces_ucs2?: readonly string[];
}

onBothStores(() => {
  /** Three segments of UCS-2: 67 a segment. */
  const LONG = "Ваша посылка приедет завтра с 9 до 10. ".repeat(4).trim();
  const SIZE = { segments: 3, encoding: "ucs2" };

  let rig: WebhookRig;

  beforeEach(async () => {
    rig = await startWebhookRig();
  });

  afterEach(() => rig.stop());

  /** What the webhook of the message's first event and the message's own timeline say of its size. */
  async function toldOf(path: string, apiKey: string) {
    const told = () => rig.receiver.deliveries.map(({ body }) => JSON.parse(body));
    await rig.service.passUntil(() => told().some(({ type }) => type === "sms.sent"), 60_000);
    const { data: webhook } = told().find(({ type }) => type === "sms.sent");
    const response = await fetch(`${rig.service.url}${path}/events`, {
      headers: { Authorization: `Bearer ${apiKey}` },
    });
    const { data } = (await response.json()) as { data: Record<string, unknown>[] };
    const entry = data.find(({ type }) => type === "sms.sent");
    const sizeOf = (from: Record<string, unknown> = {}) => ({
      segments: from.segments,
      encoding: from.encoding,
    });
    return [sizeOf(webhook), sizeOf(entry)];
  }

  async function liveOver(connector: string, settings: Record<string, string> = {}) {
    const live = await openLiveSms(rig.service, { connectors: [connector], body: LONG, settings });
    const message = await live.send("+14155551701", { callback_url: rig.receiver.url() });
    return { live, message, told: () => toldOf(message.path, live.apiKey) };
  }

  test("over SMPP", async () => {
    const smsc = await startFakeSmsc();
    const { told } = await liveOver(await connectSmsc(rig.service, smsc));
    expect(await told()).toEqual([SIZE, SIZE]);
    expect(smsc.submits).toHaveLength(3);
    await smsc.close();
  });

  test("over SMPP, where only a receipt tells that it was sent", async () => {
    const smsc = await startFakeSmsc({ drop: "before answer", receipts: "none" });
    const connector = await connectSmsc(rig.service, smsc, {
      user_message_reference: true,
      concat: "payload",
    });
    const { told } = await liveOver(connector, { on_unconfirmed: "hold" });
    await smsc.until(() => smsc.submits.length === 1 && smsc.connections() === 0);
    delete smsc.dial.drop;
    await rig.service.passUntil(() => smsc.bound().length === 1, 60_000);
    await smsc.sendReceipt({ ...smsc.submits[0]!, messageId: "F00D" });
    expect(await told()).toEqual([SIZE, SIZE]);
    await smsc.close();
  });

  test("a dry run says what it will be over the connector that would be used", async () => {
    const [smsc, other] = await Promise.all([startFakeSmsc(), startFakeSmsc()]);
    // GSM-7 has é, and ASCII has not.
    const body = "Votre café arrive à 9 h. ".repeat(10).trim();
    const connectors = [
      await connectSmsc(rig.service, smsc, { default_alphabet: "ascii", concat: "udh16" }),
      await connectSmsc(rig.service, other),
    ];
    const live = await openLiveSms(rig.service, { connectors, body });
    const to = "+14155551702";
    const dryRun = async () => {
      const given = { to: [to, to], template_id: live.templateId, dry_run: true };
      const answer = await send(rig.service, { apiKey: live.apiKey, path: "/v1/sms/messages", body: given });
      const { messages } = answer.body as { messages: Planned[] };
      return messages.map(({ encoding, segments, forces_ucs2: forced }): Planned => {
        return { encoding, segments, ...(forced && { forces_ucs2: forced }) };
      });
    };
    const sent = async (over: typeof smsc) => {
      const message = await live.send(to);
      await rig.service.passUntil(() => over.submits.length > 0, 60_000);
      await rig.service.reached(message, "sent");
      const { detail } = (await live.timeline(message)).at(-1)!;
      return { encoding: detail?.encoding, segments: detail?.segments };
    };
    await rig.service.passUntil(() => smsc.bound().length + other.bound().length === 2, 60_000);
    const overFirst = { encoding: "ucs2", segments: 4 };
    const forced = { ...overFirst, forces_ucs2: ["é", "à"] };
    expect(await dryRun()).toEqual([forced, { ...forced }]);
    expect(await sent(smsc)).toEqual({ ...overFirst });
    await smsc.close();
    await rig.service.passUntil(async () => (await dryRun())[0]!.encoding === "gsm7", 60_000);
    const overOther = { encoding: "gsm7", segments: 2 };
    expect(await dryRun()).toEqual([overOther, { ...overOther }]);
    expect(await sent(other)).toEqual({ ...overOther });
    await other.close();
  });

  test("through an HTTP gateway", async () => {
    const gateway = await startFakeGateway({ status: 202, body: "0: Accepted for delivery" });
    const config = { provider: "kannel", base_url: gateway.url, username: "acme", password: "secret" };
    const { connector_id } = await admin<{ connector_id: string }>(rig.service, "/connectors", {
      kind: "http",
      config,
    });
    const { told } = await liveOver(connector_id);
    expect(await told()).toEqual([SIZE, SIZE]);
    await gateway.close();
  });

  test("in the sandbox", async () => {
    const { sandbox } = rig.service;
    const { template_id } = await admin<{ template_id: string }>(rig.service, "/sms-templates", {
      account_id: sandbox.account_id,
      name: "long",
      body: LONG,
    });
    const { body } = await send(rig.service, {
      apiKey: sandbox.api_key,
      path: "/v1/sms/messages",
      body: { to: "+919812345678", template_id, callback_url: rig.receiver.url() },
    });
    expect(await toldOf(`/v1/sms/messages/${body.message_id}`, sandbox.api_key)).toEqual([SIZE, SIZE]);
  });
});
