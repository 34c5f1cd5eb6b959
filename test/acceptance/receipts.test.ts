/** Providers' delivery callbacks at the public door. */
import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { httpConnectorKind } from "../../src/channels/sms/http/http-connector.ts";
import { smppConnectorKind } from "../../src/channels/sms/smpp/smpp-connector.ts";
import type { Connector } from "../../src/core/records/accounts.ts";
import { createIds } from "../../src/core/uuid.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import { type ApiOptions, onEveryStore, type RunningApi } from "./running-api.ts";

const TOKEN = "a-token-of-good-length";
const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const KANNEL = { provider: "kannel", base_url: "http://127.0.0.1:13013", username: "acme" };
const TWILIO = { provider: "twilio", account_sid: "AC1" };

onEveryStore((start) => {
  const startApi = (options: ApiOptions = {}) =>
    start({ ...options, deps: { connectorKinds: [httpConnectorKind, smppConnectorKind] } });

  const addConnector = (api: RunningApi, config: Record<string, unknown>, over: Partial<Connector> = {}) =>
    api.add("connectors", {
      name: `c-${Math.random()}`,
      kind: "http",
      config,
      secrets: { callback_token: TOKEN, password: "pw", auth_token: "tw" },
      isEnabled: true,
      ...over,
    });

  const pathOf = ({ id }: Connector, token = TOKEN) => `/receipts/${id}/${token}`;

  /** Receipts that no message is known for wait parked. */
  const parked = (api: RunningApi) => api.store.receipts.countParked();

  test("a report by query is stored, and then answered", async () => {
    await using api = await startApi();
    const path = pathOf(await addConnector(api, KANNEL));
    const answer = await api.request(`${path}?id=m-1&status=1&answer=stat%3ADELIVRD`);
    expect([answer.status, answer.text]).toEqual([200, "ok"]);
    expect(await parked(api)).toBe(1);
  });

  test("a report by form counts only with its signature, made over the public URL", async () => {
    await using api = await startApi();
    await api.store.records.setSettings(undefined, { public_url: "https://sms.acme.example/postrider" });
    const path = pathOf(await addConnector(api, TWILIO));
    const body = "MessageSid=SM1&MessageStatus=delivered";
    const signed = `https://sms.acme.example/postrider${path}MessageSidSM1MessageStatusdelivered`;
    const signature = createHmac("sha1", "tw").update(signed).digest("base64");
    const post = (headers: Record<string, string>) =>
      api.request(path, { method: "POST", body, headers: { ...FORM, ...headers } });

    const refused = await post({ "X-Twilio-Signature": `${signature}x` });
    expect(refused).toMatchObject({
      status: 401,
      json: { code: 401, message: "callback not authenticated" },
    });
    // Every 401 carries a challenge; a provider's client that holds a password back until it is asked hears that one will do.
    expect(refused.headers.get("www-authenticate")).toBe('Bearer, Basic realm="callbacks"');
    expect((await post({})).status).toBe(401);
    expect(await parked(api)).toBe(0);

    expect((await post({ "X-Twilio-Signature": signature })).status).toBe(204);
    expect(await parked(api)).toBe(1);
  });

  test("a report in JSON that is sent as a form counts", async () => {
    await using api = await startApi();
    const gateway = {
      send: { url: "https://gw.example/sms", json: { to: "{{to}}" } },
      answer: { id: { json: "/ref" } },
      callback: { id: { json: "/ref" }, status: [{ json: "/state" }], statuses: { DONE: "delivered" } },
    };
    const path = pathOf(await addConnector(api, { provider: "custom", gateway }));
    const body = JSON.stringify({ ref: "m-1", state: "DONE" });
    expect((await api.request(path, { method: "POST", body, headers: FORM })).status).toBe(200);
    expect(await parked(api)).toBe(1);
  });

  test("another token, connector or kind is 404, all alike, and stores nothing", async () => {
    await using api = await startApi();
    const connector = await addConnector(api, KANNEL);
    const smpp = await addConnector(api, { host: "h", system_id: "s" }, { kind: "smpp" });
    const nobody = createIds(api.clock, (count) => new Uint8Array(count))();
    const paths = [
      pathOf(connector, `${TOKEN}x`),
      pathOf(connector, "x"),
      `/receipts/${nobody}/${TOKEN}`,
      `/receipts/not-an-id/${TOKEN}`,
      pathOf(smpp),
    ];
    for (const path of paths) {
      const { status, json } = await api.request(`${path}?id=m-1&status=1`);
      expect([status, json]).toEqual([404, { code: 404, message: "not found" }]);
    }
    expect((await api.request(`${pathOf(connector)}?id=m-1&status=1`, { method: "HEAD" })).status).toBe(404);
    expect((await api.request(pathOf(connector), { method: "PUT" })).status).toBe(405);
    expect(await parked(api)).toBe(0);
  });

  test("what cannot be read is 400, and what is too large 413", async () => {
    await using api = await startApi();
    const path = pathOf(await addConnector(api, { provider: "infobip", base_url: "https://x.example" }));
    const headers = { "Content-Type": "application/json" };
    for (const body of ["{", "7", '"text"', "[".repeat(100_000)]) {
      expect((await api.request(path, { method: "POST", body, headers })).status).toBe(400);
    }
    const body = `{"results":[],"x":"${"y".repeat(1024 * 1024)}"}`;
    expect((await api.request(path, { method: "POST", body, headers })).status).toBe(413);
    expect((await api.request(path, { method: "POST", body: "{}", headers })).status).toBe(200);
    expect(await parked(api)).toBe(0);
  });

  test("of callbacks in which no message is named, one line a minute tells", async () => {
    await using api = await startApi();
    const path = pathOf(await addConnector(api, KANNEL));
    const ask = async (query: string) => expect((await api.request(path + query)).status).toBe(200);
    const told = () => api.logged.flatMap(({ level, fields }) => (level === "warn" ? [fields.dropped] : []));
    // Some providers ask for the bare URL, to see whether it is there.
    await ask("");
    await ask("?id=m-1&status=1");
    expect(told()).toEqual([]);
    for (let round = 0; round < 10; round++) await ask("?msgid=m-1&status=1");
    await api.clock.advance(60_000);
    await ask("?msgid=m-1&status=1");
    expect(told()).toEqual([1, 10]);
    expect(await parked(api)).toBe(1);
  });

  test("reports of a connector that is switched off still count", async () => {
    await using api = await startApi();
    const path = pathOf(await addConnector(api, KANNEL, { isEnabled: false }));
    expect((await api.request(`${path}?id=m-1&status=1`)).status).toBe(200);
    expect(await parked(api)).toBe(1);
  });

  test("while the database is away the provider is told to come back", async () => {
    await using api = await startApi({
      over: (store) => ({
        ...store,
        receipts: {
          ...store.receipts,
          record: async () => {
            throw new StoreUnavailable("away");
          },
        },
      }),
    });
    const path = pathOf(await addConnector(api, KANNEL));
    const answer = await api.request(`${path}?id=m-1&status=1`);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("1");
  });

  test("one address can only say so much a second", async () => {
    await using api = await startApi();
    const { id } = await addConnector(api, KANNEL);
    const statuses = new Set<number>();
    for (let round = 0; round < 11 && !statuses.has(429); round++) {
      const answers = await Promise.all(
        Array.from({ length: 1_000 }, () => api.request(`/receipts/${id}/wrong`)),
      );
      for (const { status } of answers) statuses.add(status);
    }
    expect([...statuses].sort()).toEqual([404, 429]);
  });

  test("no log line holds the token", async () => {
    await using api = await startApi();
    await api.request(`${pathOf(await addConnector(api, KANNEL))}?id=m-1&status=1`);
    expect(api.logged.map(({ message }) => message)).toEqual(["request"]);
    expect(JSON.stringify(api.logged)).not.toContain(TOKEN);
  });
});
