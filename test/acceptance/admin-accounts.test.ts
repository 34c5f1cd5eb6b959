import { beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const NOBODY = "01890000-0000-7000-8000-000000000000";

  describe("accounts", () => {
    test("a mode other than sandbox and live is refused", async () => {
      const { json } = await admin.call("POST", "accounts", { name: "x", mode: "test" });
      expect(json.details).toEqual({ mode: "must be one of sandbox, live" });
    });

    test("a sandbox account goes live, and a live one stays live: what it has accepted still leaves the machine", async () => {
      const { json: account } = await admin.call("POST", "accounts", { name: "Both", mode: "sandbox" });
      const set = (mode: string) => admin.call("PATCH", `accounts/${account.id}`, { mode });
      expect(await set("sandbox")).toMatchObject({ status: 200, json: { mode: "sandbox" } });
      expect(await set("live")).toMatchObject({ status: 200, json: { mode: "live" } });
      expect(await set("live")).toMatchObject({ status: 200, json: { mode: "live" } });
      const back = await set("sandbox");
      expect(back.status).toBe(400);
      expect(back.json.details).toEqual({
        mode: "a live account stays live: create a sandbox account beside it",
      });
      expect((await admin.call("GET", `accounts/${account.id}`)).json.mode).toBe("live");
    });

    test("accounts are listed by their mode", async () => {
      const modesOf = async (query: string) => {
        const { json } = await admin.call("GET", `accounts?${query}`);
        return new Set(json.data.map(({ mode }: { mode: string }) => mode));
      };
      expect(await modesOf("limit=500")).toEqual(new Set(["sandbox", "live"]));
      for (const mode of ["sandbox", "live"]) expect(await modesOf(`mode=${mode}`)).toEqual(new Set([mode]));
    });

    test("no accounts are listed of a mode that there is not: an empty list would say that there are none", async () => {
      const { status, json } = await admin.call("GET", "accounts?mode=Live");
      expect(status).toBe(400);
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

    test("a push app with devices is not deleted, and says how they go: with their contacts", async () => {
      const { json: app } = await admin.call("POST", "push-apps", { account_id: live, name: "x" });
      const registered = await fetch(`${admin.url}/v1/push/register`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ account_id: live, app_id: app.id, platform: "fcm", token: "t".repeat(120) }),
      });
      const { contact_id: contactId } = (await registered.json()) as { contact_id: string };
      expect(await admin.call("DELETE", `push-apps/${app.id}`)).toMatchObject({
        status: 409,
        json: {
          details: {
            id: "the push app is in use by devices registered with it, which are deleted with their contacts",
          },
        },
      });
      expect((await admin.call("DELETE", `contacts/${contactId}`)).status).toBe(204);
      expect((await admin.call("DELETE", `push-apps/${app.id}`)).status).toBe(204);
    });

    test("a suppressed address is kept in lower case, and must be one", async () => {
      const create = (email: string) => admin.call("POST", "suppressions", { account_id: live, email });
      expect((await create("Some.One@Example.ORG")).json.email).toBe("some.one@example.org");
      expect((await create("nobody")).json.details).toEqual({ email: "must be an email address" });
    });
  });
});
