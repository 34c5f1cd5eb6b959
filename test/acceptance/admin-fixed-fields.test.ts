/** Fields that records show and no change takes: ignored, a change of one would be answered with 200 and do nothing. */
import { beforeAll, describe, expect, test } from "bun:test";
import type { Domain } from "../../src/core/domains/domain.ts";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const connector = async (name: string): Promise<string> => {
    const body = { kind: "test", name, config: { host: "a.example", password: "s3cret" } };
    return (await admin.call("POST", "connectors", body)).json.id;
  };

  /** One of each noun, as it is created. */
  const NOUNS: Readonly<Record<string, () => object | Promise<object>>> = {
    accounts: () => ({ name: "Another", mode: "live" }),
    keys: () => ({ account_id: live, name: "CI" }),
    "sms-templates": () => ({ account_id: live, name: "otp", body: "“Code” {{1}}" }),
    senders: () => ({ account_id: live, sender_id: "ACMEIN" }),
    "dlt-entities": () => ({ account_id: live, entity_id: "1101160000000000001" }),
    domains: () => ({ account_id: live, domain: "example.com" }),
    "push-apps": () => ({ account_id: live, name: "iOS" }),
    contacts: () => ({ account_id: live, external_id: "user-1" }),
    connectors: () => ({
      kind: "test",
      name: "fixed",
      config: { host: "a.example", password: "s3cret" },
    }),
    routes: async () => ({
      account_id: live,
      channel: "sms",
      connectors: [
        { connector_id: await connector("first"), weight: 3 },
        { connector_id: await connector("second") },
      ],
    }),
    "inbound-numbers": () => ({ account_id: live, number: "+14155550123" }),
    "opt-outs": () => ({ account_id: live, recipient: "+919876543210", sender: "ACME" }),
    suppressions: () => ({ account_id: live, email: "gone@example.org" }),
  };

  /** What the API reference says that a noun shows, and what a change of it may have. */
  const fieldsOf = async (noun: string) => {
    const { paths, components } = JSON.parse(await (await fetch(`${admin.url}/openapi.json`)).text());
    const { requestBody, responses } = paths[`/admin/v1/${noun}/{id}`].patch;
    const namesIn = ({
      content,
    }: {
      content: Record<string, { schema: { $ref?: string; properties: object } }>;
    }) => {
      const schema = content["application/json"]?.schema;
      const named = components.schemas[schema?.$ref?.split("/").at(-1) ?? ""];
      return Object.keys((named ?? schema).properties);
    };
    return { shown: namesIn(responses["200"]), changeable: namesIn(requestBody) };
  };

  const made = async (noun: string) => {
    const { status, json } = await admin.call("POST", noun, await NOUNS[noun]?.());
    expect([noun, status]).toEqual([noun, 201]);
    const path = `${noun}/${json.id}`;
    return { path, shown: (await admin.call("GET", path)).json };
  };

  test("every noun that changes is among those tried here", async () => {
    const { paths } = JSON.parse(await (await fetch(`${admin.url}/openapi.json`)).text());
    const changing = Object.keys(paths).filter((path) => paths[path].patch);
    expect(changing.sort()).toEqual(
      Object.keys(NOUNS)
        .map((noun) => `/admin/v1/${noun}/{id}`)
        .sort(),
    );
  });

  describe.each(Object.keys(NOUNS))("%s", (noun) => {
    test("take back what they show, and refuse another value of each field that is fixed", async () => {
      const { path, shown } = await made(noun);
      expect(await admin.call("PATCH", path, shown)).toMatchObject({ status: 200, json: shown });
      const fields = await fieldsOf(noun);
      const fixed = fields.shown.filter((name) => !fields.changeable.includes(name));
      expect(fixed).toContain("id");
      for (const name of fixed) {
        for (const value of ["other", 7, ...(shown[name] === undefined ? [] : [null])]) {
          const { status, json } = await admin.call("PATCH", path, { [name]: value });
          expect([name, value, status, Object.keys(json.details ?? {})]).toEqual([name, value, 400, [name]]);
        }
      }
      const changed = { ...shown, created_at: "2020-01-01T00:00:00.000Z" };
      expect((await admin.call("PATCH", path, changed)).json.details).toEqual({
        created_at: "cannot be changed",
      });
      expect((await admin.call("GET", path)).json).toEqual(shown);
    });
  });

  test("says what is to be done instead", async () => {
    const { json } = await admin.call("POST", "senders", { account_id: live, sender_id: "OTHER" });
    const elsewhere = { account_id: admin.accountId };
    expect((await admin.call("PATCH", `senders/${json.id}`, elsewhere)).json.details).toEqual({
      account_id: "cannot be changed: create another sender instead",
    });
    const wanted = { kind: "smpp", secrets: { password: "other" }, status: "disabled" };
    const id = await connector("wanted");
    expect((await admin.call("PATCH", `connectors/${id}`, wanted)).json.details).toEqual({
      kind: "cannot be changed: create another connector instead",
      secrets: "says which secrets are set: give each under config, by its own name",
      status: "is what the connector reports: is_enabled turns it on and off",
    });
  });

  test("a new record may be a copy of what was read; what does not look like that is refused, and says where it belongs", async () => {
    const { json: read } = await admin.call("GET", `connectors/${await connector("original")}`);
    const config = { ...read.config, password: "s3cret" };
    expect(await admin.call("POST", "connectors", { ...read, name: "copy", config })).toMatchObject({
      status: 201,
      json: { name: "copy", secrets: { password: "set" } },
    });
    const meant = {
      kind: "test",
      config: { host: "a.example" },
      secrets: { password: "s3cret" },
      status: "off",
    };
    expect((await admin.call("POST", "connectors", meant)).json.details).toEqual({
      secrets: "says which secrets are set: give each under config, by its own name",
      status: "is what the connector reports: is_enabled turns it on and off",
    });
  });

  test("a new key that is to be revoked at once is refused", async () => {
    const body = { account_id: live, name: "revoked" };
    const { status, json } = await admin.call("POST", "keys", { ...body, revoked_at: "soon" });
    expect([status, json.details]).toEqual([
      400,
      { revoked_at: "cannot be changed: POST /admin/v1/keys/{id}/revoke revokes a key, for good" },
    ]);
    const { json: made } = await admin.call("POST", "keys", body);
    await admin.call("POST", `keys/${made.id}/revoke`);
    const { json: read } = await admin.call("GET", `keys/${made.id}`);
    const { json: copy } = await admin.call("POST", "keys", read);
    expect([typeof read.revoked_at, copy.revoked_at]).toEqual(["string", undefined]);
    expect(copy.api_key).toStartWith("pr_live_");
  });

  test("a fixed field in another spelling, or a state that has gone on since it was read, is no change", async () => {
    const optOut = { account_id: live, recipient: "+919876543211" };
    const { json } = await admin.call("POST", "opt-outs", optOut);
    const spelt = { account_id: live.toUpperCase(), recipient: "98765 43211", reason: "asked" };
    expect((await admin.call("PATCH", `opt-outs/${json.id}`, spelt)).json).toEqual({
      ...json,
      reason: "asked",
    });
    const id = await connector("moving");
    const { json: read } = await admin.call("GET", `connectors/${id}`);
    admin.statuses.set(id, { state: "up", since: admin.clock.now() });
    expect(await admin.call("PATCH", `connectors/${id}`, { ...read, name: "moved" })).toMatchObject({
      status: 200,
      json: { name: "moved", status: { state: "up" } },
    });
    const meant = await admin.call("PATCH", `connectors/${id}`, { ...read, status: "disabled" });
    expect([meant.status, Object.keys(meant.json.details)]).toEqual([400, ["status"]]);
  });

  test("a domain that was verified, or has failed, since it was read can be sent back; its state alone is refused", async () => {
    const body = { account_id: live, domain: "moving.example" };
    const { json: read } = await admin.call("POST", "domains", body);
    const path = `domains/${read.id}`;
    const move = async (changes: Partial<Domain>) => {
      const domain = await admin.store.records.find("domains", { id: read.id });
      await admin.store.records.update("domains", domain!, changes);
      return (await admin.call("GET", path)).json;
    };
    const verified = await move({ verifiedAt: 1 });
    expect(await admin.call("PATCH", path, read)).toMatchObject({ status: 200, json: verified });
    const failing = await move({ failingSince: 2 });
    expect(failing).toMatchObject({ state: "failing" });
    for (const earlier of [read, verified])
      expect(await admin.call("PATCH", path, earlier)).toMatchObject({ status: 200, json: failing });
    await move({ failingSince: 3 });
    expect(await admin.call("PATCH", path, failing)).toMatchObject({ status: 200 });
    const alone = await admin.call("PATCH", path, { state: "verified" });
    expect([alone.status, Object.keys(alone.json.details)]).toEqual([400, ["state"]]);
  });

  test("a connector that is read, disabled and sent back is disabled, whatever a newer rule says of its settings; defaults are not set", async () => {
    const id = await connector("older");
    const stored = () => admin.store.records.find("connectors", { id });
    const made = await stored();
    const config = { ...made!.config, hots: "of an older version" };
    await admin.store.records.update("connectors", made!, { config });
    const { json: read } = await admin.call("GET", `connectors/${id}`);
    expect(read.config).toMatchObject({ hots: "of an older version", port: 99 });
    const { status, json } = await admin.call("PATCH", `connectors/${id}`, { ...read, is_enabled: false });
    expect([status, json.is_enabled ?? json.details]).toEqual([200, false]);
    expect(await stored()).toMatchObject({ config, isEnabled: false });
    const changed = { ...read, config: { ...read.config, port: 7 } };
    expect((await admin.call("PATCH", `connectors/${id}`, changed)).json.details).toHaveProperty([
      "config.hots",
    ]);
  });

  test("what was registered in a sandbox can be read and sent back once the account is live, but not changed to more of that", async () => {
    const { id } = (await admin.call("POST", "accounts", { name: "New", mode: "sandbox" })).json;
    const ofSandbox = { account_id: id, sender_id: "TRYOUT", dlt_entity_id: "sandbox-entity" };
    const { json: sender } = await admin.call("POST", "senders", ofSandbox);
    await admin.call("PATCH", `accounts/${id}`, { mode: "live" });
    const change = async (body: object) => {
      const { status, json } = await admin.call("PATCH", `senders/${sender.id}`, body);
      return [status, json.is_default ?? Object.keys(json.details)];
    };
    expect(await change({ ...sender, is_default: true })).toEqual([200, true]);
    expect(await change({ ...sender, dlt_entity_id: "other" })).toEqual([400, ["dlt_entity_id"]]);
  });

  test("a route whose connectors are changed in one of the two lists takes the other as it was shown", async () => {
    const connectors = [
      { connector_id: await connector("third"), weight: 3 },
      { connector_id: await connector("fourth") },
    ];
    const route = { account_id: live, channel: "sms", match: "91", connectors };
    const { json: shown } = await admin.call("POST", "routes", route);
    const path = `routes/${shown.id}`;
    const [first, second] = shown.connectors;
    const lists = async (change: object) => {
      const { status, json } = await admin.call("PATCH", path, change);
      return [status, json.connectors ?? json.details];
    };
    const weights = [first, { ...second, weight: 1 }];
    expect(await lists({ ...shown, connectors: weights })).toEqual([200, weights]);
    const ids = [second.connector_id, first.connector_id];
    const plain = ids.map((connector_id) => ({ connector_id }));
    expect(await lists({ ...shown, connectors: weights, connector_ids: ids })).toEqual([200, plain]);
    const both = "give connectors or connector_ids, not both";
    expect(await lists({ connectors: weights, connector_ids: [first.connector_id] })).toEqual([
      400,
      { connectors: both, connector_ids: both },
    ]);
  });
});
