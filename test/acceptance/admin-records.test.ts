import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { type RunningAdmin, startAdmin } from "./running-admin.ts";

let admin: RunningAdmin;
let live: string;

beforeAll(async () => {
  admin = await startAdmin();
  live = (await admin.call("POST", "accounts", { name: "Acme", mode: "live" })).json.id;
});

afterAll(() => admin[Symbol.asyncDispose]());

const NOBODY = "01890000-0000-7000-8000-000000000000";

/** What each noun takes, what changes, and what is refused. */
const nouns = {
  accounts: {
    idName: "account_id",
    body: () => ({ name: "Another", mode: "sandbox" }),
    change: { name: "Renamed", mode: "live" },
  },
  keys: {
    idName: "key_id",
    body: () => ({ account_id: live, name: "CI" }),
    change: { name: "CI 2" },
  },
  "sms-templates": {
    idName: "template_id",
    body: () => ({
      account_id: live,
      name: "otp",
      body: "Code {#numeric#} for {#var#}",
      dlt_template_id: "1107160000000000001",
      dlt_entity_id: "1101160000000000001",
      from: "ACMEIN",
    }),
    change: { name: "otp 2", body: "Code {{1}}", from: "ACME" },
  },
  senders: {
    idName: undefined,
    body: () => ({
      account_id: live,
      sender_id: "ACMEIN",
      dlt_entity_id: "1101160000000000001",
      linked_dlt_template_ids: ["1107160000000000001"],
      is_default: true,
    }),
    change: { is_default: false },
  },
  domains: {
    idName: "domain_id",
    body: () => ({ account_id: live, domain: "example.com" }),
    change: { dkim_selector: "mail" },
  },
  "push-apps": {
    idName: "push_app_id",
    body: () => ({ account_id: live, name: "iOS", platforms: ["apns"] }),
    change: { name: "Apps", platforms: ["apns", "web"] },
  },
  contacts: {
    idName: "contact_id",
    body: () => ({ account_id: live, external_id: "user-1" }),
    change: { external_id: "user-2" },
  },
  connectors: {
    idName: "connector_id",
    body: () => ({ name: "primary", kind: "test", config: { host: "a.example" } }),
    change: { name: "secondary", is_enabled: false },
  },
  suppressions: {
    idName: "suppression_id",
    body: () => ({ account_id: live, email: "gone@example.org", reason: "asked" }),
    change: { reason: "asked twice" },
  },
} as const;

describe.each(Object.entries(nouns))("%s", (path, { idName, body, change }) => {
  let id: string;

  test("are created with 201 and shown with an id and a time", async () => {
    const { status, json } = await admin.call("POST", path, body());
    expect(status).toBe(201);
    expect(json).toMatchObject(body());
    expect(json.created_at).toBe(new Date(admin.clock.now()).toISOString());
    if (idName) expect(json[idName]).toBe(json.id);
    id = json.id;
  });

  test("are shown and listed as they were created", async () => {
    const { status, json } = await admin.call("GET", `${path}/${id}`);
    expect(status).toBe(200);
    expect(json).toMatchObject(body());
    const list = await admin.call("GET", `${path}?limit=1000`);
    expect(list.json.data).toContainEqual(json);
  });

  test("are changed field by field", async () => {
    const { status, json } = await admin.call("PATCH", `${path}/${id}`, change);
    expect(status).toBe(200);
    expect(json).toMatchObject({ ...body(), ...change });
    expect((await admin.call("GET", `${path}/${id}`)).json).toEqual(json);
    expect((await admin.call("PATCH", `${path}/${id}`, {})).json).toEqual(json);
  });

  test("an unknown or malformed id is 404 not found", async () => {
    for (const unknown of [NOBODY, "nonsense", "%00"]) {
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const { status, json } = await admin.call(
          method,
          `${path}/${unknown}`,
          method === "PATCH" ? {} : undefined,
        );
        expect([status, json.message]).toEqual([404, "not found"]);
      }
    }
  });

  test("an empty body is refused with every missing field", async () => {
    const { status, json } = await admin.call("POST", path, {});
    expect(status).toBe(400);
    expect(json).toMatchObject({ code: 400, message: "validation failed" });
    expect(Object.values(json.details)).toContain("required");
  });

  test("the end of one is 204", async () => {
    expect((await admin.call("DELETE", `${path}/${id}`)).status).toBe(204);
    const { status, json } = await admin.call("GET", `${path}/${id}`);
    if (path === "keys") expect(json.revoked_at).toBe(new Date(admin.clock.now()).toISOString());
    else expect(status).toBe(404);
  });
});

describe("access", () => {
  test("without the admin token nothing is answered but 401", async () => {
    for (const Authorization of ["", "Bearer wrong", "Basic eDp5"]) {
      const { status, json } = await admin.call("GET", "accounts", undefined, { Authorization });
      expect([status, json.message]).toEqual([401, "invalid or missing admin token"]);
    }
  });

  test("every admin endpoint is in the OpenAPI document", async () => {
    const document = (await (await fetch(`${admin.url}/openapi.json`)).json()) as { paths: object };
    const paths = Object.keys(document.paths);
    for (const path of [
      ...Object.keys(nouns),
      "routes",
      "settings",
      "settings/{name}",
      "webhooks/secret",
      "webhooks/secret/rotate",
      "sandbox/messages",
      "connector-kinds",
      "connectors/{id}/test",
      "domains/{id}/verify",
      "keys/{id}/revoke",
      "messages/{channel}/{id}/timeline",
    ]) {
      expect(paths).toContain(`/admin/v1/${path}`);
    }
  });
});

describe("lists", () => {
  test("are cut into pages that together hold everything once, in order", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      ids.push(
        (await admin.call("POST", "contacts", { account_id: live, external_id: `page-${i}` })).json.id,
      );
    }
    const seen: string[] = [];
    let after = "";
    do {
      const { json } = await admin.call(
        "GET",
        `contacts?account_id=${live}&limit=2${after && `&after=${after}`}`,
      );
      expect(json.data.length).toBeLessThanOrEqual(2);
      seen.push(...json.data.map((row: { id: string }) => row.id));
      after = json.next ?? "";
    } while (after);
    expect(seen).toEqual(ids);
    expect(
      (await admin.call("GET", `contacts?account_id=${live}&external_id=page-3`)).json.data,
    ).toHaveLength(1);
  });

  test.each([
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=x", "limit"],
    ["after=%00", "after"],
    [`account_id=${NOBODY}`, "account_id"],
    ["account_id=x", "account_id"],
  ])("?%s is refused under its name", async (query, field) => {
    const { status, json } = await admin.call("GET", `contacts?${query}`);
    expect(status).toBe(400);
    expect(Object.keys(json.details)).toEqual([field]);
  });
});

describe("accounts", () => {
  test("a mode other than sandbox and live is refused", async () => {
    const { json } = await admin.call("POST", "accounts", { name: "x", mode: "test" });
    expect(json.details).toEqual({ mode: "must be one of sandbox, live" });
  });

  test("a new account has a webhook secret", async () => {
    const { json } = await admin.call("GET", `webhooks/secret?account_id=${live}`);
    expect(json.secrets).toHaveLength(1);
  });

  test("one that still has things is not deleted, and the answer says which", async () => {
    const { json: account } = await admin.call("POST", "accounts", { name: "Busy", mode: "live" });
    const { json: app } = await admin.call("POST", "push-apps", { account_id: account.id, name: "x" });
    expect(app.platforms).toEqual(["apns", "fcm", "web"]);
    const { json: key } = await admin.call("POST", "keys", { account_id: account.id });
    const { status, json } = await admin.call("DELETE", `accounts/${account.id}`);
    expect(status).toBe(409);
    expect(json.details.id).toBe("the account is in use by its API keys, its push apps");

    await admin.call("DELETE", `push-apps/${app.id}`);
    expect((await admin.call("DELETE", `accounts/${account.id}`)).status).toBe(409);
    await admin.call("POST", `keys/${key.id}/revoke`);
    expect((await admin.call("DELETE", `accounts/${account.id}`)).status).toBe(204);
  });
});

describe("keys", () => {
  test("the key is in the answer of its creation, and only its digest is stored", async () => {
    const { json } = await admin.call("POST", "keys", { account_id: live });
    expect(json.api_key).toMatch(/^pr_live_[0-9A-Za-z]{38}$/);
    expect(json.prefix).toBe(json.api_key.slice(0, 12));
    const digest = createHash("sha256").update(json.api_key).digest("hex");
    expect(await admin.store.records.find("apiKeys", { id: json.id })).toMatchObject({ digest });
    expect((await admin.call("GET", `keys/${json.id}`)).json.api_key).toBeUndefined();
  });

  test("a revoked key stays listed, and revoking it again keeps its time", async () => {
    const { json } = await admin.call("POST", "keys", { account_id: live });
    const revoked = await admin.call("POST", `keys/${json.id}/revoke`);
    expect(revoked).toMatchObject({ status: 200, json: { id: json.id } });
    await admin.clock.advance(1000);
    expect((await admin.call("POST", `keys/${json.id}/revoke`)).json).toEqual(revoked.json);
    const { json: list } = await admin.call("GET", `keys?account_id=${live}`);
    expect(list.data).toContainEqual(revoked.json);
  });

  test("an account that is not there is named as the problem", async () => {
    const { status, json } = await admin.call("POST", "keys", { account_id: NOBODY, name: 7 });
    expect(status).toBe(400);
    expect(json.details).toEqual({ account_id: "no such account", name: "must be a string" });
  });
});

describe("SMS templates", () => {
  const create = (over: object) =>
    admin.call("POST", "sms-templates", { account_id: live, name: "t", body: "Hi {#var#}", ...over });

  test("show the variables that their body asks for", async () => {
    const { json } = await create({ body: "{#numeric#} and {#var#}" });
    expect(json.placeholders).toEqual([
      { name: "1", kind: "numeric" },
      { name: "2", kind: "var" },
    ]);
  });

  test("what looks like a placeholder and is none is refused", async () => {
    expect((await create({ body: "Hi {{name}}" })).json.details.body).toContain("{{name}}");
    expect((await create({ body: "Hi {#var}" })).json.details.body).toContain("{#var}");
  });

  test("a body that needs more variables than a message can have is refused", async () => {
    expect((await create({ body: "{#var#}".repeat(20) })).status).toBe(201);
    expect((await create({ body: "{#var#}".repeat(21) })).json.details.body).toContain("21");
  });

  test("DLT ids are digits in a live account, anything short in a sandbox", async () => {
    const ids = { dlt_template_id: "abc", dlt_entity_id: "x" };
    expect(Object.keys((await create(ids)).json.details)).toEqual(["dlt_template_id", "dlt_entity_id"]);
    expect((await create({ ...ids, account_id: admin.accountId })).status).toBe(201);
  });

  test("a DLT template id leads to one template of the account", async () => {
    const { json } = await create({ dlt_template_id: "1107160000000000077" });
    const twin = await create({ dlt_template_id: "1107160000000000077" });
    expect([twin.status, twin.json.message]).toEqual([409, "conflict"]);
    expect(twin.json.details.dlt_template_id).toContain(json.id);
  });

  test("null clears an optional field, and is refused for a required one", async () => {
    const { json } = await create({ dlt_template_id: "1107160000000000078", from: "ACME" });
    const cleared = await admin.call("PATCH", `sms-templates/${json.id}`, {
      dlt_template_id: null,
      from: null,
    });
    expect(cleared.json).not.toHaveProperty("dlt_template_id");
    expect(cleared.json).not.toHaveProperty("from");
    const refused = await admin.call("PATCH", `sms-templates/${json.id}`, { body: null, name: null });
    expect(refused.json.details).toEqual({ body: "cannot be cleared", name: "cannot be cleared" });
  });

  test("text that no database holds is refused", async () => {
    expect((await create({ body: "a\0b" })).json.details.body).toContain("NUL");
  });
});

describe("senders", () => {
  const create = (sender_id: string, over: object = {}) =>
    admin.call("POST", "senders", { account_id: live, sender_id, ...over });

  test.each(["ABCDEF", "600123", "+4912345", "A b.c-d_e"])("%s can be one", async (id) => {
    expect((await create(id)).status).toBe(201);
  });

  test.each(["TOOLONGNAME1", "12", "ÄBC", " AB", "AB\n"])("%p cannot be one", async (id) => {
    expect((await create(id)).json.details).toHaveProperty("sender_id");
  });

  test("one that is taken is refused", async () => {
    await create("TWICE");
    expect(await create("TWICE")).toMatchObject({
      status: 409,
      json: { details: { sender_id: expect.any(String) } },
    });
  });

  test("a bad linked template id is named by its index", async () => {
    const { json } = await create("LINKED", { linked_dlt_template_ids: ["1107160000000000001", "x"] });
    expect(json.details).toHaveProperty(["linked_dlt_template_ids.1"]);
  });

  test("an account has one default: the newest", async () => {
    const { json: first } = await create("FIRST", { is_default: true });
    const { json: second } = await create("SECOND", { is_default: true });
    const isDefault = async (id: string) => (await admin.call("GET", `senders/${id}`)).json.is_default;
    expect([await isDefault(first.id), await isDefault(second.id)]).toEqual([false, true]);
    await admin.call("PATCH", `senders/${first.id}`, { is_default: true });
    expect([await isDefault(first.id), await isDefault(second.id)]).toEqual([true, false]);
  });
});

describe("push apps, contacts and suppressions", () => {
  test("a platform that there is not is named by its index", async () => {
    const { json } = await admin.call("POST", "push-apps", {
      account_id: live,
      name: "x",
      platforms: ["ios"],
    });
    expect(json.details["platforms.0"]).toBe("must be one of apns, fcm, web");
  });

  test("an external id is taken once per account", async () => {
    const body = { account_id: live, external_id: "same" };
    expect((await admin.call("POST", "contacts", body)).status).toBe(201);
    expect(await admin.call("POST", "contacts", body)).toMatchObject({
      status: 409,
      json: { code: 409, message: "conflict", details: { external_id: "taken by another contact" } },
    });
    const other = { ...body, account_id: admin.accountId };
    expect((await admin.call("POST", "contacts", other)).status).toBe(201);
  });

  test("a contact with a device is not deleted", async () => {
    const { json: app } = await admin.call("POST", "push-apps", { account_id: live, name: "x" });
    const registered = await fetch(`${admin.url}/v1/push/register`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ account_id: live, app_id: app.id, platform: "fcm", token: "t".repeat(120) }),
    });
    const { contact_id: contactId } = (await registered.json()) as { contact_id: string };
    expect(await admin.call("DELETE", `contacts/${contactId}`)).toMatchObject({
      status: 409,
      json: { details: { id: "the contact is in use by devices registered to it" } },
    });
    expect((await admin.call("DELETE", `push-apps/${app.id}`)).status).toBe(409);
  });

  test("a suppressed address is kept in lower case, and must be one", async () => {
    const create = (email: string) => admin.call("POST", "suppressions", { account_id: live, email });
    expect((await create("Some.One@Example.ORG")).json.email).toBe("some.one@example.org");
    expect((await create("nobody")).json.details).toEqual({ email: "must be an email address" });
  });
});
