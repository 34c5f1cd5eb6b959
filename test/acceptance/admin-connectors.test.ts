import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

onEveryAdmin((startAdmin) => {
  let admin: RunningAdmin;

  beforeAll(async () => {
    admin = await startAdmin();
  });

  afterAll(() => admin[Symbol.asyncDispose]());

  const NOBODY = "01890000-0000-7000-8000-000000000000";

  async function connector(config: object = { host: "a.example" }, kind = "test"): Promise<string> {
    const { status, json } = await admin.call("POST", "connectors", { kind, config });
    expect(status).toBe(201);
    return json.id;
  }

  describe("connectors", () => {
    test("the kinds are shown with their schema, and with their secrets and what each is for", async () => {
      const { json } = await admin.call("GET", "connector-kinds");
      expect(json.data.map((each: { kind: string }) => each.kind)).toEqual(["smpp", "smtp", "test"]);
      expect(json.data[2]).toMatchObject({
        channel: "sms",
        secrets: ["password"],
        secret_descriptions: { password: "Password of the test" },
        config: { properties: { port: { type: "integer", default: 99 } } },
      });
    });

    test("a connector whose stored settings a newer rule refuses can still be renamed and disabled", async () => {
      const id = await connector();
      const read = await admin.store.records.find("connectors", { id });
      await admin.store.records.update("connectors", read!, { config: { ...read!.config, hots: "a" } });
      const disabled = await admin.call("PATCH", `connectors/${id}`, { is_enabled: false });
      expect([disabled.status, disabled.json.is_enabled]).toEqual([200, false]);
      // As the command line and the console send it.
      const renamed = await admin.call("PATCH", `connectors/${id}`, { name: "older", config: {} });
      expect([renamed.status, renamed.json.name]).toEqual([200, "older"]);
      const changed = await admin.call("PATCH", `connectors/${id}`, { config: { port: 7 } });
      expect(Object.keys(changed.json.details)).toEqual(["config.hots"]);
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

    test("of text that has to have a form, what has it is shown, beside every other problem", async () => {
      const make = async (kind: string, config: object) =>
        (await admin.call("POST", "connectors", { kind, config })).json.details;
      const mail = { host: "a.example", port: 0, provider: "ses", sns_topic_arn: "mail" };
      expect(await make("smtp", mail)).toEqual({
        "config.port": "must be from 1 to 65535",
        "config.sns_topic_arn": "must look like arn:aws:sns:eu-west-1:123456789012:mail",
      });
      const sms = { host: "a.example", system_id: "acme", dlt_chain_ids: ["entity", "12"] };
      expect(await make("smpp", { ...sms, window: 0, dlt_codes: { "5308": "scrubbed" } })).toEqual({
        "config.window": "must be from 1 to 1000",
        "config.dlt_chain_ids": "1 of 2 entries is invalid",
        "config.dlt_chain_ids.1": "must look like entity or 1101234567890123456",
        "config.dlt_codes.5308": "must look like 633",
      });
      const classes = { host: "a.example", system_id: "acme", status_classes: { "1025": "transient" } };
      expect(await make("smpp", classes)).toEqual({
        "config.status_classes": expect.stringContaining("for example 0x00000401"),
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

    test("a number that JSON has rounded is refused, at any depth of a configuration", async () => {
      const config = { host: "a.example", extra: { body: { ids: [7, 2 ** 60] } } };
      const { status, json } = await admin.call("POST", "connectors", { kind: "test", config });
      expect([status, json.details]).toEqual([
        400,
        { "config.extra.body.ids.1": "numbers from 2^53 on would be rounded: give them as strings" },
      ]);
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

    test("connectors without a name are called by their kind, numbered", async () => {
      const names = (await admin.call("GET", "connectors")).json.data.map(
        (row: { name: string }) => row.name,
      );
      expect(names).toContain("test");
      expect(names).toContain("test-2");
      expect(new Set(names).size).toBe(names.length);
    });

    test("connectors that are created at once without a name get one each", async () => {
      const body = { kind: "test", config: { host: "a.example", password: "p" } };
      const made = await Promise.all(Array.from({ length: 6 }, () => admin.call("POST", "connectors", body)));
      expect(made.map(({ status }) => status)).toEqual(made.map(() => 201));
      expect(new Set(made.map(({ json }) => json.name)).size).toBe(made.length);
    });

    test("connectors without a name are called by their provider, where a kind has several", async () => {
      const config = { host: "relay.example", provider: "postmark" };
      const create = () => admin.call("POST", "connectors", { kind: "smtp", config });
      expect([(await create()).json.name, (await create()).json.name]).toEqual(["postmark", "postmark-2"]);
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

    test("a connector whose provider calls nobody back shows no path for that", async () => {
      const id = await connector();
      const { json } = await admin.call("GET", `connectors/${id}`);
      expect(Object.keys(json)).not.toContain("callback_path");
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

    test("the binds of a connector are shown, the rate it is at, and what somebody has to see to", async () => {
      const id = await connector();
      admin.statuses.set(id, {
        state: "up",
        since: admin.clock.now(),
        binds: { up: 1, of: 2 },
        rate: { perSecond: 33.333, isReduced: true },
        alarm: "bind_refused",
      });
      expect((await admin.call("GET", `connectors/${id}`)).json.status).toMatchObject({
        binds: { up: 1, of: 2 },
        rate: { per_second: 33.3, is_reduced: true },
        alarm: "bind_refused",
      });
    });

    test("trying a connector answers how it went, good or bad", async () => {
      const id = await connector();
      admin.check = { ok: false, detail: "password refused" };
      expect(await admin.call("POST", `connectors/${id}/test`)).toMatchObject({
        status: 200,
        json: { ok: false, detail: "password refused" },
      });
      expect((await admin.call("POST", `connectors/${NOBODY}/test`)).status).toBe(404);
    });

    test("a connector that a route uses is not deleted, and the answer names the route", async () => {
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

    test("a connector that receives for an inbound number is not deleted, and the answer names the number", async () => {
      const id = await connector();
      const { json: account } = await admin.call("POST", "accounts", { name: "Acme", mode: "live" });
      const { json: number } = await admin.call("POST", "inbound-numbers", {
        account_id: account.account_id,
        number: "56161",
        connector_id: id,
      });
      expect(await admin.call("DELETE", `connectors/${id}`)).toMatchObject({
        status: 409,
        json: { details: { id: `the connector is in use by the inbound number ${number.id}` } },
      });
      expect((await admin.call("DELETE", `inbound-numbers/${number.id}`)).status).toBe(204);
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
});
