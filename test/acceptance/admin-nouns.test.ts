import { beforeAll, describe, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

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
        category: "service_implicit",
        variable_tags: ["numeric", "var"],
        linked_headers: ["ACMEIN"],
        status: "pending",
      }),
      change: { name: "otp 2", body: "Code {{1}}", from: "ACME", status: "approved" },
    },
    senders: {
      idName: undefined,
      body: () => ({
        account_id: live,
        sender_id: "ACMEIN",
        dlt_entity_id: "1101160000000000001",
        linked_dlt_template_ids: ["1107160000000000001"],
        header_type: "service",
        status: "approved",
        is_default: true,
      }),
      change: { is_default: false, header_type: "promotional" },
    },
    "dlt-entities": {
      idName: undefined,
      body: () => ({
        account_id: live,
        entity_id: "1101160000000000001",
        name: "Acme Retail",
        status: "approved",
        whitelisted_urls: ["acme.example/"],
        callback_numbers: ["1800 123 4567"],
      }),
      change: { name: "Acme", status: "inactive", whitelisted_urls: [] },
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
    "inbound-numbers": {
      idName: undefined,
      body: () => ({ account_id: live, number: "+14155550123" }),
      change: { number: "56161" },
    },
    "opt-outs": {
      idName: undefined,
      body: () => ({ account_id: live, recipient: "+919876543210", sender: "ACME", reason: "asked" }),
      change: { reason: "asked twice" },
    },
    suppressions: {
      idName: "suppression_id",
      body: () => ({ account_id: live, email: "gone@example.org", reason: "unsubscribe" }),
      change: { reason: "manual", source: "asked twice" },
    },
  } as const;

  describe.each(Object.entries(nouns))("%s", (path, { idName, body, change }) => {
    let id: string;

    test("are created with 201 and shown with an id and a time, in whatever case their account is named", async () => {
      const named = "account_id" in body() && { account_id: live.toUpperCase() };
      const { status, json } = await admin.call("POST", path, { ...body(), ...named });
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
      // Whoever sends back what was read, with a change in it, means nothing by the rest.
      expect((await admin.call("PATCH", `${path}/${id}`, json)).json).toEqual(json);
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
        "sandbox/inbound",
        "inbound-messages",
        "alarms",
        "connector-kinds",
        "connectors/{id}/test",
        "domains/{id}/verify",
        "keys/{id}/revoke",
        "messages/{id}/timeline",
        "messages/{channel}/{id}/timeline",
        "erasures",
        "erasures/{id}",
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
      ["external_id=%00", "external_id"],
    ])("?%s is refused under its name", async (query, field) => {
      const { status, json } = await admin.call("GET", `contacts?${query}`);
      expect(status).toBe(400);
      expect(Object.keys(json.details)).toEqual([field]);
    });

    test("begin after what a page before has named, and after nothing else", async () => {
      const { paths } = JSON.parse(await (await fetch(`${admin.url}/openapi.json`)).text());
      // That of inbound messages is a time, and their cursor has another name.
      const takesAfter = (path: string) =>
        paths[path].get?.parameters?.some(({ name }: { name: string }) => name === "after") &&
        path !== "/admin/v1/inbound-messages";
      const ours = Object.keys(paths).filter((path) => path.startsWith("/admin/v1/") && takesAfter(path));
      expect(ours.length).toBeGreaterThan(15);
      for (const path of ours) {
        for (const after of ["zzz", "page-2", "", NOBODY.slice(1)]) {
          const { status, json } = await admin.call("GET", `${path.slice(10)}?after=${after}`);
          expect([path, after, status, json]).toMatchObject([
            path,
            after,
            400,
            { message: "validation failed", details: { after: "must be the `next` of an earlier page" } },
          ]);
        }
      }
    });

    test("go on after an id in either case", async () => {
      const [first, second] = (await admin.call("GET", "accounts")).json.data;
      const { json } = await admin.call("GET", `accounts?after=${first.id.toUpperCase()}&limit=1`);
      expect(json.data).toEqual([second]);
    });
  });
});
