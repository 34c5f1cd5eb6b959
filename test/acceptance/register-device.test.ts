import { expect, test } from "bun:test";
import type { PushPlatform } from "../../src/core/records/accounts.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/push/register";

async function withApp(api: RunningApi, accountId = api.caller.accountId) {
  const platforms: PushPlatform[] = ["fcm"];
  const app = await api.add("pushApps", { accountId, name: "app", platforms });
  const device = (over: Record<string, unknown> = {}) => ({
    account_id: accountId,
    app_id: app.id,
    platform: "fcm",
    token: "token-1",
    ...over,
  });
  const register = (over?: Record<string, unknown>, headers = {}) =>
    api.post(PATH, device(over), { key: undefined, headers });
  return { app, device, register };
}

onEveryStore((start) => {
  test("a device is registered without a key and answered 201 with registration_id and contact_id", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const { status, json } = await register({
      device_id: "d1",
      os_version: "17.4",
      app_version: "2.8.0",
      locale: "en-IN",
      timezone: "Asia/Kolkata",
    });
    expect(status).toBe(201);
    expect(Object.keys(json)).toEqual(["registration_id", "contact_id"]);
  });

  test("account_id, app_id, platform and token are required", async () => {
    await using api = await start();
    const { status, json } = await api.post(PATH, {}, { key: undefined });
    expect(status).toBe(400);
    expect(json).toEqual({
      code: 400,
      message: "validation failed",
      details: { account_id: "required", app_id: "required", platform: "required", token: "required" },
    });
  });

  test("an invalid platform must be one of apns, fcm, web", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const { status, json } = await register({ platform: "blackberry" });
    expect(status).toBe(400);
    expect(json.details.platform).toContain("one of apns, fcm, web");
  });

  test("apns, fcm and web are platforms of every sandbox app", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    for (const platform of ["apns", "fcm", "web"]) expect((await register({ platform })).status).toBe(201);
  });

  test("an unknown account or app is named under its field, with the other problems", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const account = await register({ account_id: "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10", token: "" });
    expect(account.json.details).toEqual({ account_id: "unknown account", token: "required" });
    expect((await register({ app_id: "nope" })).json.details).toEqual({ app_id: "unknown push app" });
  });

  test("a device of an app that was deleted a moment ago is refused as of an unknown one", async () => {
    await using api = await start();
    const { app, register } = await withApp(api);
    // From now on the app is remembered for a second.
    expect((await register({ token: "" })).status).toBe(400);
    await api.store.records.remove("pushApps", app.id);
    const { status, json } = await register();
    expect([status, json.details]).toEqual([400, { app_id: "unknown push app" }]);
    expect(api.logged.filter(({ level }) => level === "error")).toEqual([]);
  });

  test("the ids of account and app count in capitals too, as some platforms write UUIDs", async () => {
    await using api = await start();
    const { register, app } = await withApp(api);
    const registered = await register({ device_id: "d1" });
    const capitals = { account_id: api.caller.accountId.toUpperCase(), app_id: app.id.toUpperCase() };
    const again = await register({ ...capitals, device_id: "d1" });
    expect([again.status, again.json]).toEqual([201, registered.json]);
  });

  test("another account's app is unknown", async () => {
    await using api = await start();
    const other = await api.newAccount("sandbox");
    const { app } = await withApp(api, other.accountId);
    const { register } = await withApp(api);
    expect((await register({ app_id: app.id })).status).toBe(400);
  });

  test("live: an app without the platform is refused under platform, and tokens have a shape", async () => {
    await using api = await start();
    const { accountId } = await api.newAccount("live");
    const { register } = await withApp(api, accountId);
    expect((await register({ platform: "apns", token: "ab".repeat(32) })).json.details).toEqual({
      platform: "the push app does not have this platform",
    });
    expect((await register({ token: "has spaces" })).json.details).toHaveProperty("token");
    expect((await register()).status).toBe(201);
  });

  test("a known device keeps its registration and contact when its token changes", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const first = await register({ device_id: "d1" });
    const second = await register({ device_id: "d1", token: "token-2" });
    expect(second.status).toBe(201);
    expect(second.json).toEqual(first.json);
    expect((await register({ device_id: "d2" })).json).not.toEqual(first.json);
  });

  test("without device_id the token identifies the device", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const first = await register();
    expect((await register()).json).toEqual(first.json);
    expect((await register({ token: "token-2" })).json).not.toEqual(first.json);
  });

  test("device_id, os_version, app_version, locale and timezone are optional strings", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    for (const field of ["device_id", "os_version", "app_version", "locale", "timezone"]) {
      expect((await register({ [field]: 7 })).json.details).toHaveProperty(field);
      expect((await register({ [field]: null })).status).toBe(201);
    }
  });

  test("browsers are answered: preflight, success and errors carry CORS headers", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const preflight = await api.request(PATH, {
      method: "OPTIONS",
      headers: { Origin: "https://shop.example" },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    const allowed = preflight.headers.get("access-control-allow-headers")?.split(", ");
    expect(allowed).toContain("Content-Type");
    // What the page's tracing adds must not keep a device from being registered.
    expect(allowed).toContain("*");
    const answers = [preflight, await register(), await register({ token: "" }), await api.get(PATH)];
    expect(answers.map(({ status }) => status)).toEqual([204, 201, 400, 405]);
    for (const { headers } of answers) {
      expect(headers.get("access-control-allow-origin")).toBe("*");
      // Scripts read no other headers of ours: those of a 429, and of a repeat.
      const shown = headers.get("access-control-expose-headers")?.split(", ");
      for (const name of ["Retry-After", "Idempotent-Replayed", "X-Request-Id"])
        expect(shown).toContain(name);
    }
  });

  test("an Idempotency-Key replays the same body, and does not fold different devices into one", async () => {
    await using api = await start();
    const { register } = await withApp(api);
    const headers = { "Idempotency-Key": "constant" };
    const first = await register({}, headers);
    const again = await register({}, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    const other = await register({ token: "token-2" }, headers);
    expect(other.headers.get("idempotent-replayed")).toBeNull();
    expect(other.json.registration_id).not.toBe(first.json.registration_id);
  });

  test("a registration is replayed even where it would be refused by now, and only to its own repeat", async () => {
    await using api = await start();
    const live = await api.newAccount("live");
    const { app, register } = await withApp(api, live.accountId);
    const device = { token: "a".repeat(140) };
    const headers = { "Idempotency-Key": "k" };
    const first = await register(device, headers);
    expect(first.status).toBe(201);
    await api.store.records.update("pushApps", app, { platforms: ["apns"] });
    await api.clock.advance(1_000);
    const again = await register(device, headers);
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await register(device, { "Idempotency-Key": "other" })).status).toBe(400);
    expect((await register(device)).status).toBe(400);
  });
});
