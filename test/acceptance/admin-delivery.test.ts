/** What decides how messages leave: connectors, routes, domains, settings, webhook secrets; and what is seen of them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey, createPublicKey } from "node:crypto";
import { SETTINGS } from "../../src/core/settings.ts";
import { type RunningAdmin, startAdmin } from "./running-admin.ts";

let admin: RunningAdmin;
let live: string;

beforeAll(async () => {
  admin = await startAdmin();
  live = (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
});

afterAll(() => admin[Symbol.asyncDispose]());

const NOBODY = "01890000-0000-7000-8000-000000000000";

async function connector(config: object = { host: "a.example" }, kind = "test"): Promise<string> {
  const { status, json } = await admin.call("POST", "connectors", { kind, config });
  expect(status).toBe(201);
  return json.id;
}

describe("connectors", () => {
  test("the kinds are shown with their schema and the names of their secrets", async () => {
    const { json } = await admin.call("GET", "connector-kinds");
    expect(json.data.map((each: { kind: string }) => each.kind)).toEqual(["smpp", "smtp", "test"]);
    expect(json.data[2]).toMatchObject({
      channel: "sms",
      secrets: ["password"],
      config: { properties: { port: { type: "integer", default: 99 } } },
    });
  });

  test("a secret is stored and only ever shown as set", async () => {
    const id = await connector({ host: "a.example", password: "hunter2" });
    const { json } = await admin.call("GET", `connectors/${id}`);
    expect(json.secrets).toEqual({ password: "set" });
    expect(JSON.stringify((await admin.call("GET", "connectors")).json)).not.toContain("hunter2");
    expect(await admin.store.records.find("connectors", { id })).toMatchObject({
      config: { host: "a.example" },
      secrets: { password: "hunter2" },
    });
  });

  test("the configuration is shown with the defaults of what is not set", async () => {
    const id = await connector();
    expect((await admin.call("GET", `connectors/${id}`)).json.config).toEqual({
      host: "a.example",
      port: 99,
      use_tls: false,
      flavour: "plain",
    });
  });

  test("every problem of a configuration is reported at once, each under its name", async () => {
    const config = { port: "x", use_tls: "yes", flavour: "sour", hosts: [1], prot: 1, password: 7 };
    const { status, json } = await admin.call("POST", "connectors", { kind: "test", name: "", config });
    expect(status).toBe(400);
    expect(json.details).toMatchObject({
      name: "must not be empty",
      "config.host": "required",
      "config.port": "must be an integer",
      "config.use_tls": "must be a boolean",
      "config.hosts.0": "must be a string",
      "config.prot": "unknown; did you mean port?",
    });
    expect(json.details["config.password"]).toContain("string");
  });

  test("a word that is none of those a field may have is answered with those", async () => {
    const config = { host: "a", flavour: "sour" };
    const { json } = await admin.call("POST", "connectors", { kind: "test", config });
    expect(json.details).toEqual({ "config.flavour": "must be one of plain, rich" });
  });

  test("a field that resembles none is answered with all there are", async () => {
    const { json } = await admin.call("POST", "connectors", {
      kind: "test",
      config: { host: "a", zzzzzz: 1 },
    });
    expect(json.details["config.zzzzzz"]).toBe(
      "unknown; known are host, port, use_tls, flavour, hosts, extra, password",
    );
  });

  test.each(["__proto__", "constructor", "toString"])("%s is no field", async (name) => {
    const response = await fetch(`${admin.url}/admin/v1/connectors`, {
      method: "POST",
      headers: { Authorization: "Bearer pr_admin_test" },
      body: `{"kind":"test","config":{"host":"a",${JSON.stringify(name)}:{"x":1}}}`,
    });
    expect(response.status).toBe(400);
  });

  test("an unknown kind is refused with those there are", async () => {
    const { json } = await admin.call("POST", "connectors", { kind: "fax", config: {} });
    expect(json.details).toEqual({ kind: "must be one of smpp, smtp, test" });
  });

  test.each([
    ["smpp", { host: "smsc.example", system_id: "acme", password: "secret" }],
    ["smtp", { host: "relay.example", port: 587, username: "acme", password: "secret" }],
  ])("a real kind, %s, takes what it needs", async (kind, config) => {
    const { status, json } = await admin.call("POST", "connectors", { kind, config });
    expect(status).toBe(201);
    expect(json.secrets).toEqual({ password: "set" });
    expect(json.config).toMatchObject({ host: config.host });
    const empty = await admin.call("POST", "connectors", { kind, config: {} });
    expect(empty.json.details["config.host"]).toBe("required");
  });

  test("without a name they are called by their kind, numbered", async () => {
    const names = (await admin.call("GET", "connectors")).json.data.map((row: { name: string }) => row.name);
    expect(names).toContain("test");
    expect(names).toContain("test-2");
    expect(new Set(names).size).toBe(names.length);
  });

  test("a name that is taken is refused", async () => {
    await admin.call("POST", "connectors", { kind: "test", name: "taken", config: { host: "a" } });
    const twin = await admin.call("POST", "connectors", {
      kind: "test",
      name: "taken",
      config: { host: "a" },
    });
    expect(twin).toMatchObject({ status: 409, json: { details: { name: "taken by another connector" } } });
  });

  test("a change touches only what it names; null clears", async () => {
    const id = await connector({ host: "a.example", port: 5, password: "one", hosts: ["b"] });
    const changed = await admin.call("PATCH", `connectors/${id}`, {
      config: { host: "c.example", port: null },
    });
    expect(changed.json.config).toMatchObject({ host: "c.example", port: 99, hosts: ["b"] });
    expect(changed.json.secrets).toEqual({ password: "set" });
    const cleared = await admin.call("PATCH", `connectors/${id}`, { config: { password: null } });
    expect(cleared.json.secrets).toEqual({});
    const refused = await admin.call("PATCH", `connectors/${id}`, { config: { host: null, port: 0 } });
    expect(refused.json.details).toEqual({ "config.host": "required", "config.port": expect.any(String) });
  });

  test("the live status is shown, and that it is unknown where nobody runs it", async () => {
    const id = await connector();
    expect((await admin.call("GET", `connectors/${id}`)).json.status).toEqual({ state: "unknown" });
    admin.statuses.set(id, { state: "down", since: admin.clock.now(), reason: "refused" });
    expect((await admin.call("GET", `connectors/${id}`)).json.status).toEqual({
      state: "down",
      since: new Date(admin.clock.now()).toISOString(),
      reason: "refused",
    });
  });

  test("trying one answers how it went, good or bad", async () => {
    const id = await connector();
    admin.check = { ok: false, detail: "password refused" };
    expect(await admin.call("POST", `connectors/${id}/test`)).toMatchObject({
      status: 200,
      json: { ok: false, detail: "password refused" },
    });
    expect((await admin.call("POST", `connectors/${NOBODY}/test`)).status).toBe(404);
  });

  test("one that a route uses is not deleted, and the answer names the route", async () => {
    const id = await connector();
    const { json: route } = await admin.call("POST", "routes", {
      channel: "sms",
      match: "44",
      connector_ids: [id],
    });
    expect(await admin.call("DELETE", `connectors/${id}`)).toMatchObject({
      status: 409,
      json: { details: { id: `the connector is in use by the route ${route.id}` } },
    });
    expect((await admin.call("DELETE", `routes/${route.id}`)).status).toBe(204);
    expect((await admin.call("DELETE", `connectors/${id}`)).status).toBe(204);
  });

  test("every stored change is told to whoever runs connectors, and no refused one", async () => {
    const before = admin.configChanges();
    const id = await connector();
    await admin.call("PATCH", `connectors/${id}`, { is_enabled: false });
    await admin.call("DELETE", `connectors/${id}`);
    expect(admin.configChanges()).toBe(before + 3);
    await admin.call("POST", "connectors", { kind: "test", config: {} });
    expect(admin.configChanges()).toBe(before + 3);
  });
});

describe("routes", () => {
  test("keep the order of their connectors", async () => {
    const [a, b] = [await connector(), await connector()];
    const { json } = await admin.call("POST", "routes", {
      account_id: live,
      channel: "sms",
      match: "+91",
      connector_ids: [b, a],
    });
    expect(json).toMatchObject({ route_id: json.id, account_id: live, match: "91", connector_ids: [b, a] });
    const { json: changed } = await admin.call("PATCH", `routes/${json.id}`, { connector_ids: [a] });
    expect(changed).toMatchObject({ match: "91", connector_ids: [a] });
  });

  test("without account and match they lead everywhere", async () => {
    const { json } = await admin.call("POST", "routes", {
      channel: "sms",
      connector_ids: [await connector()],
    });
    expect(json).toMatchObject({ channel: "sms", match: "" });
    expect(json).not.toHaveProperty("account_id");
  });

  test("every problem is reported at once", async () => {
    const email = await connector({ host: "relay.example" }, "smtp");
    const { status, json } = await admin.call("POST", "routes", {
      account_id: NOBODY,
      channel: "sms",
      match: "india",
      connector_ids: [email, NOBODY, "x"],
    });
    expect(status).toBe(400);
    expect(json.details).toMatchObject({
      account_id: "no such account",
      match: "must be 1 to 15 digits, for example 91",
      connector_ids: "3 of 3 entries are invalid",
      "connector_ids.1": "no such connector",
      "connector_ids.2": "no such connector",
    });
    expect(json.details["connector_ids.0"]).toContain("for email, not for sms");
  });

  test("an email route matches a domain", async () => {
    const id = await connector({ host: "relay.example" }, "smtp");
    const create = (match: string) =>
      admin.call("POST", "routes", { account_id: live, channel: "email", match, connector_ids: [id] });
    expect((await create("@Example.ORG")).json.match).toBe("example.org");
    expect((await create("not a domain")).json.details.match).toContain("must be a domain");
  });

  test("a connector is named once, and at least one is", async () => {
    const id = await connector();
    const create = (ids: string[]) =>
      admin.call("POST", "routes", { channel: "sms", match: "49", connector_ids: ids });
    expect((await create([id, id])).json.details["connector_ids.1"]).toBe("is named twice");
    expect((await create([])).json.details).toHaveProperty("connector_ids");
  });

  test("of two for the same messages the second is refused: it would never be chosen", async () => {
    const body = { account_id: live, channel: "sms", match: "33", connector_ids: [await connector()] };
    const { json: first } = await admin.call("POST", "routes", body);
    const twin = await admin.call("POST", "routes", body);
    expect(twin).toMatchObject({
      status: 409,
      json: { details: { match: `taken by the route ${first.id}` } },
    });
    const { json: other } = await admin.call("POST", "routes", { ...body, match: "34" });
    expect((await admin.call("PATCH", `routes/${other.id}`, { match: "33" })).status).toBe(409);
  });
});

describe("domains", () => {
  interface Shown {
    readonly purpose: string;
    readonly type: string;
    readonly name: string;
    readonly value: string;
    readonly strings?: readonly string[];
  }

  async function domain(name: string): Promise<{ id: string; records: Shown[] }> {
    const { status, json } = await admin.call("POST", "domains", { account_id: live, domain: name });
    expect(status).toBe(201);
    return json;
  }

  test("show three records ready to copy, long ones in strings of at most 255", async () => {
    const { records } = await domain("Shop.Example.");
    expect(records.map(({ type, name }) => [type, name])).toEqual([
      ["TXT", "_postrider.shop.example"],
      ["TXT", expect.stringMatching(/^pr[0-9a-f]{8}\._domainkey\.shop\.example$/)],
      ["CNAME", "bounce.shop.example"],
    ]);
    expect(records[1]?.value).toStartWith("v=DKIM1; k=rsa; p=");
    expect(records[1]?.strings?.join("")).toBe(records[1]?.value as string);
    expect(records[1]?.strings?.every((each) => each.length <= 255)).toBe(true);
  });

  test("the DKIM key is RSA of 2048 bits, and its private half is never shown", async () => {
    const { id, records } = await domain("key.example");
    const stored = await admin.store.records.find("domains", { id });
    const privateKey = createPrivateKey(stored?.dkimPrivateKey ?? "");
    expect(privateKey.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" }).toString("base64");
    expect(records[1]?.value).toEndWith(`p=${publicKey}`);
    expect(JSON.stringify((await admin.call("GET", `domains/${id}`)).json)).not.toContain("PRIVATE");
  });

  test("are verified once all three records are found, and each is told of", async () => {
    const { id, records } = await domain("good.example");
    const verify = async () => (await admin.call("POST", `domains/${id}/verify`)).json;
    const nothing = await verify();
    expect(nothing.verified).toBe(false);
    expect(nothing.records.map((each: { problem: string }) => each.problem)).toEqual([
      "no TXT record yet",
      "no TXT record yet",
      "no CNAME and no MX record yet",
    ]);

    const [ownership, dkim, path] = records as [Shown, Shown, Shown];
    admin.dns.set(`TXT ${ownership.name}`, ["other", ` ${ownership.value} `]);
    admin.dns.set(`TXT ${dkim.name}`, [dkim.value.replace("p=", "p=AAAA")]);
    admin.dns.set(`CNAME ${path.name}`, [`${path.value.toUpperCase()}.`]);
    const wrong = await verify();
    expect(wrong.records.map((each: { ok: boolean }) => each.ok)).toEqual([true, false, true]);
    expect(wrong.records[1].problem).toContain("another value");
    expect((await admin.call("GET", `domains/${id}`)).json).not.toHaveProperty("verified_at");

    admin.dns.set(`TXT ${dkim.name}`, [dkim.value.replace("k=rsa; ", "")]);
    const verified = await verify();
    expect(verified).toMatchObject({
      verified: true,
      verified_at: new Date(admin.clock.now()).toISOString(),
    });
    expect((await admin.call("GET", `domains/${id}`)).json.verified_at).toBe(verified.verified_at);
  });

  test("a return path may be any host that takes mail, but not one with a null MX", async () => {
    const { id } = await domain("path.example");
    const path = async () => (await admin.call("POST", `domains/${id}/verify`)).json.records[2];
    admin.dns.set("MX bounce.path.example", [""]);
    expect((await path()).ok).toBe(false);
    admin.dns.set("MX bounce.path.example", ["mx.path.example"]);
    expect(await path()).toMatchObject({ ok: true, found: ["MX mx.path.example"] });
  });

  test("a resolver that fails is told apart from a record that is missing", async () => {
    const { id, records } = await domain("down.example");
    admin.dns.set(`TXT ${records[0]?.name}`, Object.assign(new Error("x"), { code: "ESERVFAIL" }));
    const { json } = await admin.call("POST", `domains/${id}/verify`);
    expect(json.records[0].problem).toBe("DNS could not be asked (ESERVFAIL); try again later");
  });

  test("a verification once given is not taken away by a miss", async () => {
    const { id } = await domain("kept.example");
    await admin.store.records.update("domains", id, { verifiedAt: 5 });
    const { json } = await admin.call("POST", `domains/${id}/verify`);
    expect(json).toMatchObject({ verified: false, verified_at: new Date(5).toISOString() });
  });

  test.each(["localhost", "a b.example", "-x.example", "1.2.3.4", "a@b.example"])(
    "%s is none",
    async (name) => {
      const { json } = await admin.call("POST", "domains", { account_id: live, domain: name });
      expect(json.details).toHaveProperty("domain");
    },
  );

  test("one is taken once per account", async () => {
    await domain("once.example");
    const again = await admin.call("POST", "domains", { account_id: live, domain: "ONCE.example" });
    expect(again).toMatchObject({ status: 409, json: { details: { domain: "taken by another domain" } } });
    const other = await admin.call("POST", "domains", {
      account_id: admin.accountId,
      domain: "once.example",
    });
    expect(other.status).toBe(201);
  });
});

describe("settings", () => {
  test("all are listed with default and meaning", async () => {
    const { json } = await admin.call("GET", "settings");
    expect(json.data.map((each: { name: string }) => each.name)).toEqual(Object.keys(SETTINGS));
    expect(json.data[0]).toMatchObject({
      name: "idempotency",
      value: "replay",
      default: "replay",
      set_by: "default",
    });
    expect(json.data[0].description).not.toBe("");
  });

  test("an account's goes over the instance's, and null goes back", async () => {
    const value = async (query = "") => {
      const { json } = await admin.call("GET", `settings/email_window_hours${query}`);
      return [json.value, json.set_by];
    };
    const mine = `?account_id=${live}`;
    await admin.call("PUT", "settings/email_window_hours", { value: 24 });
    expect([await value(), await value(mine)]).toEqual([
      [24, "instance"],
      [24, "instance"],
    ]);
    await admin.call("PUT", `settings/email_window_hours${mine}`, { value: "12" });
    expect([await value(), await value(mine)]).toEqual([
      [24, "instance"],
      [12, "account"],
    ]);
    await admin.call("PUT", `settings/email_window_hours${mine}`, { value: null });
    await admin.call("PUT", "settings/email_window_hours", { value: null });
    expect(await value(mine)).toEqual([48, "default"]);
  });

  test("several are set at once, or none where one is wrong", async () => {
    const before = admin.configChanges();
    const bad = await admin.call("PUT", "settings", {
      keep_bodies: true,
      idempotency: "maybe",
      colour: "red",
    });
    expect(bad.status).toBe(400);
    expect(bad.json.details.idempotency).toBe("must be one of replay, strict");
    expect(bad.json.details.colour).toStartWith("unknown setting");
    expect((await admin.call("GET", "settings/keep_bodies")).json.value).toBe(false);
    expect(admin.configChanges()).toBe(before);

    const { json } = await admin.call("PUT", "settings", { keep_bodies: true, idempotency: "strict" });
    const found = Object.fromEntries(
      json.data.map((each: { name: string; value: unknown }) => [each.name, each.value]),
    );
    expect(found).toMatchObject({ keep_bodies: true, idempotency: "strict" });
    expect(admin.configChanges()).toBe(before + 1);
    await admin.call("PUT", "settings", { keep_bodies: null, idempotency: null });
  });

  test("a setting that there is not is 404, a value of no plain kind 400", async () => {
    expect((await admin.call("GET", "settings/colour")).status).toBe(404);
    expect((await admin.call("PUT", "settings/colour", { value: 1 })).status).toBe(404);
    expect((await admin.call("PUT", "settings/idempotency", { value: {} })).json.details).toHaveProperty(
      "value",
    );
    expect((await admin.call("PUT", "settings/idempotency", {})).json.details).toEqual({ value: "required" });
    expect((await admin.call("GET", `settings?account_id=${NOBODY}`)).json.details).toHaveProperty(
      "account_id",
    );
  });
});

describe("webhook secrets", () => {
  test("a rotation puts a new one first and keeps the one before, no more", async () => {
    const path = `webhooks/secret?account_id=${live}`;
    const secrets = async () =>
      (await admin.call("GET", path)).json.secrets.map((each: { secret: string }) => each.secret);
    const [first] = await secrets();
    expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    await admin.call("POST", `webhooks/secret/rotate?account_id=${live}`);
    const [second, ...rest] = await secrets();
    expect(rest).toEqual([first]);
    const { json } = await admin.call("POST", `webhooks/secret/rotate?account_id=${live}`);
    expect(json.secrets.map((each: { secret: string }) => each.secret)).toEqual([expect.any(String), second]);
    expect(json.secrets).toHaveLength(2);
  });

  test("the account has to be named, and to be there", async () => {
    expect((await admin.call("GET", "webhooks/secret")).json.details).toEqual({ account_id: "required" });
    expect((await admin.call("POST", `webhooks/secret/rotate?account_id=${NOBODY}`)).status).toBe(400);
  });
});

describe("what was sent", () => {
  const entry = (to: string, over: object) => ({
    id: Bun.randomUUIDv7(),
    accountId: admin.accountId,
    messageId: Bun.randomUUIDv7(),
    receivedAt: admin.clock.now(),
    to,
    ...over,
  });

  test("the sandbox's messages are listed rendered, and found by what they were", async () => {
    const sms = entry("+919876543210", {
      channel: "sms",
      rendered: { text: "Hi", segments: 1, encoding: "gsm7" },
    });
    const mail = entry("a@example.org", {
      channel: "email",
      rendered: {
        subject: "Hello",
        to: [{ email: "a@example.org" }],
        body_text: "x",
        source: "Subject: Hello",
      },
    });
    await admin.store.sandbox.record([sms, mail] as never);
    const list = async (query: string) => (await admin.call("GET", `sandbox/messages?${query}`)).json.data;
    expect(await list("to=%2B919876543210")).toEqual([
      {
        id: sms.id,
        account_id: admin.accountId,
        message_id: sms.messageId,
        channel: "sms",
        to: "+919876543210",
        received_at: new Date(admin.clock.now()).toISOString(),
        text: "Hi",
        segments: 1,
        encoding: "gsm7",
      },
    ]);
    expect(await list("to=+919876543210")).toHaveLength(1);
    expect(await list(`message_id=${mail.messageId}`)).toMatchObject([
      { to: "a@example.org", subject: "Hello", recipients: [{ email: "a@example.org" }], body_text: "x" },
    ]);
    expect(await list("channel=email")).toHaveLength(1);
    expect(await list(`account_id=${admin.accountId}`)).toHaveLength(2);
    expect(await list(`account_id=${live}`)).toEqual([]);
    expect((await admin.call("GET", "sandbox/messages?channel=fax")).json.details).toEqual({
      channel: "must be one of sms, email",
    });
  });

  test("a message's timeline is shown to whoever names its account and channel", async () => {
    const id = Bun.randomUUIDv7();
    await admin.store.intake.accept({
      accountId: live,
      flow: "single",
      content: { channel: "sms" },
      messages: [
        {
          id,
          recipient: "+919876543210",
          status: "queued",
          parts: [],
          expiresAt: admin.clock.now() + 1000,
          jobs: [{ queue: "q" }],
        },
      ],
    });
    const path = `messages/sms/${id}/timeline`;
    const { status, json } = await admin.call("GET", `${path}?account_id=${live}`);
    expect(status).toBe(200);
    expect(json.data.length).toBeGreaterThan(0);
    for (const [index, each] of json.data.entries()) {
      expect(each).toMatchObject({
        position: index + 1,
        kind: expect.any(String),
        status: expect.any(String),
      });
    }
    const other = await admin.call("GET", `${path}?account_id=${admin.accountId}`);
    expect([other.status, other.json.message]).toEqual([404, "message not found"]);
    for (const wrong of [`messages/email/${id}`, `messages/fax/${id}`, "messages/sms/x"]) {
      expect((await admin.call("GET", `${wrong}/timeline?account_id=${live}`)).status).toBe(404);
    }
  });
});
