/** SMS through HTTP gateways, from the request at our door to the provider's callback. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { admin, reached } from "../admin.ts";
import { onBothStores } from "../both-stores.ts";
import { type FakeGateway, startFakeGateway } from "../fakes/fake-gateway.ts";
import { keptPort } from "../fakes/kept-port.ts";
import { type LiveSms, openLiveSms as openLive } from "../live-sms.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

onBothStores(() => {
  const TEXT = "Your parcel is at the door.";

  /** A cached list of routes without the account's own lives for a second at the most. */
  async function openLiveSms(...connectors: readonly string[]): Promise<LiveSms> {
    const account = await openLive(service, { connectors, body: TEXT });
    const send: LiveSms["send"] = async (to, over) => {
      const tried = () => account.send(to, over).catch((error: Error) => error);
      const hasRoute = (answer: object) => !(answer instanceof Error && answer.message.includes("no route"));
      const message = await until(tried, hasRoute);
      if (message instanceof Error) throw message;
      return message;
    };
    return { ...account, send };
  }

  interface Shown {
    readonly connector_id: string;
    readonly callback_path: string;
    readonly callback_url?: string;
    readonly secrets: Readonly<Record<string, string>>;
    readonly status: { readonly state: string };
  }

  const folder = makeDataFolder();
  let service: PostriderProcess;
  let gateway: FakeGateway;

  beforeAll(async () => {
    [service, gateway] = await Promise.all([
      startPostrider({ dataFolder: folder.path, env: { LOG_LEVEL: "debug" } }),
      startFakeGateway({ status: 202, body: "0: Accepted for delivery" }),
    ]);
  });

  afterAll(async () => {
    service.kill("SIGTERM");
    const code = await service.exited;
    await gateway.close();
    folder.remove();
    expect(code).toBe(0);
  });

  const connect = (config: Record<string, unknown>) =>
    admin<Shown>(service, "/connectors", { kind: "http", config });

  const kannel = () =>
    connect({ provider: "kannel", base_url: gateway.url, username: "acme", password: "kannel-secret" });

  test("an SMS goes through Kannel and is delivered when Kannel calls the URL it was given", async () => {
    const connector = await kannel();
    expect(connector.callback_url).toBeUndefined();
    expect(connector.secrets).toEqual({ password: "set", callback_token: "set" });
    await admin(service, "/settings/public_url", { value: service.url }, "PUT");
    const shown = await admin<Shown>(service, `/connectors/${connector.connector_id}`);
    expect(shown.callback_url).toBe(service.url + connector.callback_path);
    expect(await admin(service, `/connectors/${connector.connector_id}/test`, {})).toMatchObject({
      ok: true,
    });

    const account = await openLiveSms(connector.connector_id);
    const message = await account.send("+4915112345678");
    expect((await reached(service, message, "sent")).status).toBe("sent");
    const [request] = gateway.requests;
    expect(request?.query).toMatchObject({
      to: "+4915112345678",
      from: "ACMECO",
      text: TEXT,
      "dlr-mask": "19",
    });

    const dlrUrl = request?.query["dlr-url"] ?? "";
    expect(dlrUrl).toStartWith(`${shown.callback_url}?id=`);
    const callback = await fetch(
      dlrUrl.replace("%d", "1").replace("%A", encodeURIComponent("stat:DELIVRD err:000")),
    );
    expect(callback.status).toBe(200);
    expect((await reached(service, message, "delivered", "undelivered")).status).toBe("delivered");
    const timeline = await account.timeline(message);
    // Kannel gives no id: receipts come under ours.
    expect(timeline.find(({ kind }) => kind === "attempt")?.detail).not.toHaveProperty("provider_message_id");
    expect(timeline).toContainEqual(
      expect.objectContaining({
        kind: "receipt",
        status: "delivered",
        detail: expect.objectContaining({ connector: connector.connector_id, receipt_status: "delivered" }),
      }),
    );
  });

  test("a gateway that the operator describes works the same, and a forged callback changes nothing", async () => {
    gateway.behave(({ json }) => ({ status: 200, body: { queued: [{ ref: `x-${json.msisdn}` }] } }));
    const connector = await connect({
      provider: "custom",
      auth_token: "bearer-secret",
      signature_secret: "callback-secret",
      gateway: {
        send: {
          url: `${gateway.url}/v2/sms`,
          auth: { kind: "bearer", value: "{{secret.auth_token}}" },
          json: { msisdn: "{{to_digits}}", body: "{{text}}", ttl: "{{validity_seconds|number}}" },
        },
        answer: { id: { json: "/queued/0/ref" } },
        callback: {
          verify: { scheme: "header", header: "X-Gateway-Key", secret: "signature_secret" },
          reports: "/events",
          id: { json: "/ref" },
          status: [{ json: "/state" }],
          statuses: { DONE: "delivered", LOST: "undelivered" },
          error_code: { json: "/why" },
        },
      },
    });
    const account = await openLiveSms(connector.connector_id);
    const message = await account.send("+4915112345679", { expire_after_seconds: 600 });
    await reached(service, message, "sent");
    const sent = gateway.requests.at(-1);
    expect(sent?.headers.authorization).toBe("Bearer bearer-secret");
    expect(sent?.json).toEqual({ msisdn: "4915112345679", body: TEXT, ttl: expect.any(Number) });

    const report = (key: string, path = connector.callback_path) =>
      fetch(service.url + path, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Gateway-Key": key },
        body: JSON.stringify({ events: [{ ref: "x-4915112345679", state: "LOST", why: 27 }] }),
      });
    expect((await report("guess")).status).toBe(401);
    expect((await report("callback-secret", `${connector.callback_path}x`)).status).toBe(404);
    expect((await reached(service, message, "sent", "undelivered")).status).toBe("sent");
    expect((await report("callback-secret")).status).toBe(200);
    expect(await reached(service, message, "delivered", "undelivered")).toMatchObject({
      status: "undelivered",
    });
    const timeline = await account.timeline(message);
    // The provider's support asks for its id, and parked receipts are compared with it.
    expect(timeline.find(({ kind }) => kind === "attempt")).toMatchObject({
      detail: { segments: 1, provider_message_id: "x-4915112345679" },
    });
    expect(timeline.at(-1)).toMatchObject({ error: { code: "custom.27" } });
  });

  test("while the gateway is away nothing is lost or spent, and the message goes out once when it is back", async () => {
    const port = await keptPort();
    const connector = await connect({
      provider: "kannel",
      base_url: `http://127.0.0.1:${port}`,
      username: "acme",
      password: "kannel-secret",
    });
    const account = await openLiveSms(connector.connector_id);
    const message = await account.send("+4915112345670");
    const state = async () =>
      (await admin<Shown>(service, `/connectors/${connector.connector_id}`)).status.state;
    await until(state, (now) => now === "down");
    const back = await startFakeGateway({ status: 202, body: "0: Accepted for delivery" }, port);
    await reached(service, message, "sent");
    expect(back.requests.length).toBe(1);
    await back.close();
  });

  test("what is missing or misspelt in a configuration is named, field by field", async () => {
    const refusal = (config: Record<string, unknown>) =>
      connect(config).catch((error: Error) => error.message);
    expect(await refusal({ provider: "twilio" })).toContain('"config.account_sid":"required by twilio"');
    expect(await refusal({ provider: "nexmo" })).toContain("must be one of custom, gupshup");
    const gateway = { send: { url: "https://x.example", query: { to: "{{tto}}" } }, answer: {} };
    expect(await refusal({ provider: "custom", gateway })).toContain(
      '"config.gateway.send.query.to":"there is no placeholder {{tto}}"',
    );
  });

  test("a callback token that is cleared is made anew, and the old one is worth nothing", async () => {
    const { connector_id, callback_path } = await kannel();
    const changed = await admin<Shown>(
      service,
      `/connectors/${connector_id}`,
      { config: { callback_token: null } },
      "PATCH",
    );
    expect(changed.callback_path).not.toBe(callback_path);
    expect((await fetch(`${service.url}${callback_path}?id=1&status=1`)).status).toBe(404);
    expect((await fetch(`${service.url}${changed.callback_path}?id=1&status=1`)).status).toBe(200);
  });

  test("no log line holds a secret, a callback's token, a number or a text", async () => {
    const { data } = await admin<{ data: readonly Shown[] }>(service, "/connectors");
    const tokens = data.map(({ callback_path }) => callback_path.split("/").at(-1) ?? "");
    const output = service.output();
    for (const secret of [...tokens, "kannel-secret", "bearer-secret", "callback-secret", "15112345", TEXT]) {
      expect(output).not.toContain(secret);
    }
  });
});
