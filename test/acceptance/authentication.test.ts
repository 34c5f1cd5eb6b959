import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { Type } from "typebox";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { until } from "../until.ts";
import { sms } from "./builders.ts";
import { heldBody } from "./held-body.ts";
import { rewriteRecord } from "./rewrite-record.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const UNAUTHORIZED = { code: 401, message: "invalid or missing API key" };

onEveryStore((start) => {
  test("Authorization: Bearer is taken, its scheme in any case", async () => {
    await using api = await start();
    for (const scheme of ["Bearer", "bearer", "BEARER"]) {
      const headers = { Authorization: `${scheme} ${api.caller.key}` };
      expect((await api.post(PATH, sms(), { key: undefined, headers })).status).toBe(202);
    }
  });

  test("X-API-Key is taken", async () => {
    await using api = await start();
    const headers = { "X-API-Key": api.caller.key };
    expect((await api.post(PATH, sms(), { key: undefined, headers })).status).toBe(202);
  });

  test("both headers may name the same key; different ones are refused", async () => {
    await using api = await start();
    const other = await api.newKey(api.caller.accountId);
    expect((await api.post(PATH, sms(), { headers: { "X-API-Key": api.caller.key } })).status).toBe(202);
    expect((await api.post(PATH, sms(), { headers: { "X-API-Key": other.key } })).status).toBe(401);
    const headers = { "X-API-Key": api.caller.key, Authorization: "Basic eDp5" };
    expect((await api.post(PATH, sms(), { key: undefined, headers })).status).toBe(401);
  });

  test("missing, malformed, mistyped and unknown keys are refused alike, with WWW-Authenticate", async () => {
    await using api = await start();
    const mistyped = `${api.caller.key.slice(0, -1)}${api.caller.key.endsWith("A") ? "B" : "A"}`;
    const unknown = "pr_live_00000000000000000000000000000000000000";
    for (const key of [undefined, "", "nonsense", mistyped, unknown, "x".repeat(5000)]) {
      const { status, json, headers } = await api.post(PATH, sms(), { key });
      expect(status).toBe(401);
      expect(json).toEqual(UNAUTHORIZED);
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test("what one account is answered is kept by no cache on the way, since another asks the same URL", async () => {
    await using api = await start();
    const headers = { "X-API-Key": api.caller.key };
    const { json } = await api.post(PATH, sms(), { key: undefined, headers });
    const paths = [PATH, `${PATH}/${json.message_id}`, `${PATH}/${json.message_id}/events`, "/v1/events"];
    for (const path of [...paths, `${PATH}/none`]) {
      const answer = await api.get(path, { key: undefined, headers });
      expect([path, answer.headers.get("cache-control")]).toEqual([path, "no-store"]);
    }
    expect((await api.get("/docs", { key: undefined })).headers.get("cache-control")).toBe("no-cache");
  });

  test("every endpoint but the push endpoints, the probes, the console's sign-in and the receipts (which carry a token) requires a key", async () => {
    await using api = await start();
    const spec = (await api.get("/openapi.json", { key: undefined })).json;
    const open = new Set<string>();
    for (const [path, operations] of Object.entries<Record<string, unknown>>(spec.paths)) {
      for (const method of Object.keys(operations)) {
        const sent = { key: undefined, method: method.toUpperCase(), ...(method === "post" && { body: {} }) };
        const { status } = await api.request(path.replace("{message_id}", "x"), sent);
        if (status !== 401) open.add(path);
      }
    }
    expect([...open].sort()).toEqual([
      "/admin/v1/session",
      "/healthz",
      "/metrics",
      "/readyz",
      "/receipts/{connector_id}/{token}",
      "/v1/push/identify",
      "/v1/push/register",
    ]);
  });

  test("a revoked key is refused within a second, everywhere at once", async () => {
    await using api = await start();
    expect((await api.post(PATH, sms())).status).toBe(202);
    await rewriteRecord(api, "apiKeys", { id: api.caller.keyId, revokedAt: api.clock.now() });
    await api.clock.advance(1000);
    const answers = await Promise.all([1, 2, 3].map(() => api.post(PATH, sms())));
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(answers[0]!.json).toEqual(UNAUTHORIZED);
  });

  test("a key whose account was deleted a moment ago is refused as an unknown one, and that is no fault", async () => {
    await using api = await start();
    const { accountId, keyId, key } = await api.newAccount("sandbox");
    // From now on the key is remembered for a second.
    expect((await api.post(PATH, {}, { key })).status).toBe(400);
    await rewriteRecord(api, "apiKeys", { id: keyId, revokedAt: api.clock.now() });
    expect(await api.store.records.remove("accounts", accountId)).toBe(true);
    const { status, json } = await api.post(PATH, sms(), { key });
    expect([status, json]).toEqual([401, UNAUTHORIZED]);
    expect(api.logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("who is still sending a body when the key is revoked sends no message with it", async () => {
    for (const [revoked, status] of [
      ["its key", 401],
      ["another key", 202],
    ] as const) {
      await using api = await start();
      const other = await api.newKey(api.caller.accountId);
      const sender = revoked === "its key" ? api.caller : other;
      const { body, end } = heldBody(JSON.stringify(sms()));
      const headers = { Authorization: `Bearer ${sender.key}`, "Content-Type": "application/json" };
      const answer = fetch(`${api.url}${PATH}`, { method: "POST", headers, body });
      await until(api.clock.pending);
      await rewriteRecord(api, "apiKeys", { id: api.caller.keyId, revokedAt: api.clock.now() });
      await api.clock.advance(1_000);
      end();
      expect((await answer).status).toBe(status);
      const { data } = (await api.get(PATH, { key: other.key })).json;
      expect(data).toHaveLength(status === 202 ? 1 : 0);
    }
  });

  test("a key used again and again is read once a second, and by one reader for all who wait", async () => {
    let readings = 0;
    await using api = await start({
      over: (store) => ({
        ...store,
        records: {
          ...store.records,
          findKeyOwner(digest) {
            readings++;
            return store.records.findKeyOwner(digest);
          },
        },
      }),
    });
    await Promise.all(Array.from({ length: 20 }, () => api.post(PATH, sms())));
    expect(readings).toBe(1);
    await api.clock.advance(1000);
    await Promise.all(Array.from({ length: 20 }, () => api.post(PATH, sms())));
    expect(readings).toBe(2);
  });

  test("an admin endpoint takes the admin token and no API key", async () => {
    const endpoint: Endpoint = {
      method: "GET",
      path: "/admin/v1/things/{id}/parts",
      operation: "listParts",
      summary: "",
      tag: "Admin",
      auth: "admin",
      responses: { 200: { description: "" } },
      handle: ({ params }) => Response.json(params),
    };
    await using api = await start({
      deps: { adminEndpoints: [endpoint] },
      over: (store) => ({
        ...store,
        access: {
          ...store.access,
          adminTokenDigest: async () => createHash("sha256").update("the-token").digest("hex"),
        },
      }),
    });
    const path = "/admin/v1/things/7/parts";
    expect((await api.get(path, { key: "the-token" })).json).toEqual({ id: "7" });
    for (const key of [undefined, "another", api.caller.key]) {
      const { status, json, headers } = await api.get(path, { key });
      expect(status).toBe(401);
      expect(json).toEqual({ code: 401, message: "invalid or missing admin token" });
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
  });

  test("who is still sending a body when the admin token is replaced changes nothing with it", async () => {
    let token = "the-token";
    let changes = 0;
    const endpoint: Endpoint = {
      method: "POST",
      path: "/admin/v1/things",
      operation: "createThing",
      summary: "",
      tag: "Admin",
      auth: "admin",
      request: { schema: Type.Object({}), maxBytes: 1_024 },
      responses: { 201: { description: "" } },
      handle: () => Response.json({ changes: ++changes }, { status: 201 }),
    };
    await using api = await start({
      deps: { adminEndpoints: [endpoint] },
      over: (store) => ({
        ...store,
        access: {
          ...store.access,
          adminTokenDigest: async () => createHash("sha256").update(token).digest("hex"),
        },
      }),
    });
    const headers = { Authorization: "Bearer the-token", "Content-Type": "application/json" };
    for (const [next, status] of [
      ["the-token", 201],
      ["another", 401],
    ] as const) {
      const { body, end } = heldBody("{}");
      const answer = fetch(`${api.url}/admin/v1/things`, { method: "POST", headers, body });
      await until(api.clock.pending);
      token = next;
      await api.clock.advance(1_000);
      end();
      expect((await answer).status).toBe(status);
    }
    expect(changes).toBe(1);
  });
});
