import { expect, test } from "bun:test";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/push/identify";

async function withDevice(api: RunningApi) {
  const { accountId } = api.caller;
  const app = await api.add("pushApps", { accountId, name: "app", platforms: ["fcm"] });
  const body = { account_id: accountId, app_id: app.id, platform: "fcm", token: "t", device_id: "d1" };
  const registered = await api.post("/v1/push/register", body, { key: undefined });
  const contact = await api.add("contacts", { accountId, externalId: "user-1" });
  const identify = (over: Record<string, unknown>, headers = {}) =>
    api.post(PATH, { account_id: accountId, device_id: "d1", ...over }, { key: undefined, headers });
  return { registered: registered.json, contact, identify, body };
}

const NOT_FOUND = { code: 404, message: "contact not found" };

onEveryStore((start) => {
  test("by contact_id: 200 with the contact_id and identified true, without a key", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    const { status, json } = await identify({ contact_id: contact.id });
    expect(status).toBe(200);
    expect(json).toEqual({ contact_id: contact.id, identified: true });
  });

  test("the ids of account and contact count in capitals too, those of the application as they are", async () => {
    await using api = await start();
    const { identify, contact, body } = await withDevice(api);
    const account_id = body.account_id.toUpperCase();
    const { status, json } = await identify({ account_id, contact_id: contact.id.toUpperCase() });
    expect([status, json]).toEqual([200, { contact_id: contact.id, identified: true }]);
    expect((await identify({ device_id: "D1", contact_id: contact.id })).json).toEqual(NOT_FOUND);
    expect((await identify({ external_id: "USER-1" })).json).toEqual(NOT_FOUND);
  });

  test("by external_id: the contact is looked up", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    expect((await identify({ external_id: "user-1" })).json).toEqual({
      contact_id: contact.id,
      identified: true,
    });
  });

  test("the device's push tokens move to the identified user, and repeating it is harmless", async () => {
    await using api = await start();
    const { identify, contact, registered, body } = await withDevice(api);
    await identify({ contact_id: contact.id });
    expect((await identify({ contact_id: contact.id })).status).toBe(200);
    const again = await api.post("/v1/push/register", body, { key: undefined });
    expect(again.json).toEqual({ registration_id: registered.registration_id, contact_id: contact.id });
  });

  test("a device of another account that is called the same stays where it is", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    const { accountId } = await api.newAccount("sandbox");
    const app = await api.add("pushApps", { accountId, name: "app", platforms: ["fcm"] });
    const body = { account_id: accountId, app_id: app.id, platform: "fcm", token: "t", device_id: "d1" };
    const register = async () => (await api.post("/v1/push/register", body, { key: undefined })).json;
    const before = await register();
    expect((await identify({ contact_id: contact.id })).status).toBe(200);
    expect(await register()).toEqual(before);
  });

  test("after a logout the token with a new device_id is a stranger's, and no more the user's", async () => {
    await using api = await start();
    const { identify, contact, body } = await withDevice(api);
    await identify({ contact_id: contact.id });
    const register = (over: object) =>
      api.post("/v1/push/register", { ...body, ...over }, { key: undefined });
    const { json: stranger } = await register({ device_id: "d2" });
    expect(stranger.contact_id).not.toBe(contact.id);
    // Without its device id the token leads to whoever has it.
    expect((await register({ device_id: undefined })).json).toEqual(stranger);
  });

  test("account_id and device_id are required, and one of contact_id and external_id", async () => {
    await using api = await start();
    const { status, json } = await api.post(PATH, {}, { key: undefined });
    expect(status).toBe(400);
    expect(json.details).toMatchObject({ account_id: "required", device_id: "required" });
    expect(json.details.contact_id).toBe(json.details.external_id);
  });

  test("an unknown account, device, contact or external id is contact not found", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    const unknown = "0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10";
    const answers = [
      await identify({ contact_id: unknown }),
      await identify({ external_id: "nobody" }),
      await identify({ device_id: "d9", contact_id: contact.id }),
      await identify({ account_id: unknown, contact_id: contact.id }),
    ];
    // Longer than any id that there is: it is looked for, and not judged.
    const long = "x".repeat(9_000);
    for (const field of ["account_id", "device_id", "contact_id", "external_id"])
      answers.push(await identify({ contact_id: contact.id, [field]: long }, { "Idempotency-Key": field }));
    answers.push(await identify({ external_id: long }));
    for (const { status, json } of answers) {
      expect(status).toBe(404);
      expect(json).toEqual(NOT_FOUND);
    }
  });

  test("where contact_id and external_id are given, contact_id counts and external_id must match", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    expect((await identify({ contact_id: contact.id, external_id: "user-1" })).status).toBe(200);
    expect((await identify({ contact_id: contact.id, external_id: "user-2" })).json).toEqual(NOT_FOUND);
  });

  test("another account's contact is not found, by neither of its ids", async () => {
    await using api = await start();
    const { identify } = await withDevice(api);
    const other = await api.newAccount("sandbox");
    const foreign = await api.add("contacts", { accountId: other.accountId, externalId: "x" });
    expect((await identify({ contact_id: foreign.id })).json).toEqual(NOT_FOUND);
    expect((await identify({ external_id: "x" })).json).toEqual(NOT_FOUND);
  });

  test("an Idempotency-Key replays the answer", async () => {
    await using api = await start();
    const { identify, contact } = await withDevice(api);
    const headers = { "Idempotency-Key": "k" };
    const first = await identify({ contact_id: contact.id }, headers);
    const again = await identify({ contact_id: contact.id }, headers);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-replayed")).toBe("true");
  });

  test("an error carries CORS headers", async () => {
    await using api = await start();
    const { identify } = await withDevice(api);
    const { headers } = await identify({ external_id: "nobody" });
    expect(headers.get("access-control-allow-origin")).toBe("*");
  });
});
