import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { FieldErrors } from "../body/field-errors.ts";
import { accountIdOf, parseIdentifyUser, parseRegisterDevice } from "./push-device.ts";

const device = { account_id: "acc", app_id: "app", platform: "fcm", token: "token-1" };
const p256dh = Buffer.from([4, ...new Uint8Array(64).fill(0xfe)]).toString("base64url");
const auth = Buffer.alloc(16, 0xfb).toString("base64url");
const subscription = { endpoint: "https://push.example/x", expirationTime: null, keys: { p256dh, auth } };

function register(fields: object, mode: "sandbox" | "live" | undefined = "sandbox") {
  const parsed = parseRegisterDevice({ ...device, ...fields }, { mode });
  return "value" in parsed ? { ...parsed, errors: {} as FieldErrors } : { ...parsed, value: undefined };
}

function identify(body: object) {
  const parsed = parseIdentifyUser(body);
  return "value" in parsed ? { ...parsed, errors: {} as FieldErrors } : { ...parsed, value: undefined };
}

describe("POST /v1/push/register", () => {
  test("every field is taken over as sent", () => {
    const fields = { device_id: "d", os_version: "17", app_version: "2", locale: "en_IN", timezone: "IST" };
    expect(register(fields).value).toStrictEqual({
      accountId: "acc",
      appId: "app",
      platform: "fcm",
      token: "token-1",
      deviceId: "d",
      osVersion: "17",
      appVersion: "2",
      locale: "en_IN",
      timezone: "IST",
    });
  });

  test("absent and null fields are absent", () => {
    expect(register({ device_id: null, locale: null }).value).toStrictEqual({
      accountId: "acc",
      appId: "app",
      platform: "fcm",
      token: "token-1",
    });
  });

  test.each(["account_id", "app_id", "platform", "token"])("%s is required", (field) => {
    for (const value of [undefined, null, ""])
      expect(register({ [field]: value }).errors).toEqual({ [field]: "required" });
  });

  test("an invalid platform is told the three there are", () => {
    for (const platform of ["ios", "APNS", 5]) {
      expect(register({ platform }).errors).toEqual({ platform: "must be one of apns, fcm, web" });
    }
  });

  test.each(["os_version", "app_version", "locale", "timezone"])("%s has at most 64 characters", (field) => {
    expect(register({ [field]: "x".repeat(64) }).errors).toEqual({});
    expect(register({ [field]: "x".repeat(65) }).errors).toEqual({
      [field]: "must be at most 64 characters",
    });
    expect(register({ [field]: 17 }).errors).toEqual({ [field]: "must be a string" });
    expect(register({ [field]: "\0" }).errors).toHaveProperty(field);
  });

  test("device_id has 1 to 256 characters", () => {
    expect(register({ device_id: "x".repeat(256) }).errors).toEqual({});
    expect(register({ device_id: "x".repeat(257) }).errors).toHaveProperty("device_id");
    expect(register({ device_id: "" }).errors).toEqual({ device_id: "must not be empty" });
  });

  test("a sandbox takes any token of 1 to 4,096 characters", () => {
    for (const platform of ["apns", "fcm", "web"]) {
      expect(register({ platform, token: "any thing" }).value).toMatchObject({ token: "any thing" });
      expect(register({ platform, token: "x".repeat(4096) }).errors).toEqual({});
      expect(register({ platform, token: "x".repeat(4097) }).errors).toEqual({
        token: "must be at most 4096 characters",
      });
    }
  });

  test("where the account is unknown the shape of the token is not judged", () => {
    expect(parseRegisterDevice({ ...device, platform: "apns" }, { mode: undefined })).toHaveProperty("value");
  });

  test("live apns tokens are 64 to 400 hexadecimal digits, kept in lower case", () => {
    const live = (token: string) => register({ platform: "apns", token }, "live");
    expect(live("AB".repeat(32)).value).toMatchObject({ token: "ab".repeat(32) });
    expect(live("ab".repeat(200)).errors).toEqual({});
    for (const token of ["ab".repeat(31), "ab".repeat(201), `${"ab".repeat(32)}a`, "xy".repeat(32)]) {
      expect(live(token).errors.token).toStartWith("must be an APNs device token");
    }
  });

  test("live fcm tokens are opaque, without spaces", () => {
    expect(register({ token: "cXyz:APA91b-_" }, "live").errors).toEqual({});
    expect(register({ token: "a b" }, "live").errors.token).toStartWith("must be an FCM registration token");
  });

  test("live web tokens are a subscription", () => {
    const live = (token: unknown) =>
      register({ platform: "web", token: typeof token === "string" ? token : JSON.stringify(token) }, "live")
        .errors;
    const keys = subscription.keys;
    expect(live(subscription)).toEqual({});
    expect(live({ ...subscription, keys: { p256dh: `${p256dh}=`, auth: `${auth}==` } })).toEqual({});
    const compressed = Buffer.from([3, ...new Uint8Array(64)]).toString("base64url");
    for (const bad of [
      "x",
      "null",
      "[]",
      {},
      { ...subscription, endpoint: "http://push.example/x" },
      { ...subscription, endpoint: "https://u:p@push.example/x" },
      { ...subscription, endpoint: "https://" },
      { ...subscription, keys: undefined },
      { ...subscription, keys: { ...keys, p256dh: compressed } },
      { ...subscription, keys: { ...keys, p256dh: p256dh.slice(1) } },
      { ...subscription, keys: { ...keys, auth: `${auth}A` } },
      { ...subscription, keys: { ...keys, auth: auth.replace(/^./, "+") } },
    ]) {
      expect(live(bad).token).toStartWith("must be a JSON PushSubscription");
    }
  });

  test("the account can be read before the body is judged", () => {
    expect(accountIdOf(device)).toBe("acc");
    for (const body of [null, [], "x", {}, { account_id: 5 }]) expect(accountIdOf(body)).toBeUndefined();
  });
});

describe("POST /v1/push/identify", () => {
  const user = { account_id: "acc", device_id: "d" };
  const ONE_OF_TWO = "either contact_id or external_id is required";

  test("either id is enough, both are kept", () => {
    expect(identify({ ...user, contact_id: "c" }).value).toStrictEqual({
      accountId: "acc",
      deviceId: "d",
      contactId: "c",
    });
    expect(identify({ ...user, contact_id: "c", external_id: "e" }).value).toMatchObject({ externalId: "e" });
  });

  test("an empty body names every field", () => {
    expect(identify({}).errors).toEqual({
      account_id: "required",
      device_id: "required",
      contact_id: ONE_OF_TWO,
      external_id: ONE_OF_TWO,
    });
  });

  test("an empty id is a missing one", () => {
    expect(identify({ ...user, contact_id: "", external_id: null }).errors).toEqual({
      contact_id: ONE_OF_TWO,
      external_id: ONE_OF_TWO,
    });
    expect(identify({ ...user, contact_id: 5 }).errors).toEqual({ contact_id: "must be a string" });
  });

  test("no body makes either throw", () => {
    const names = [...Object.keys(device), "device_id", "contact_id", "external_id", "locale"];
    const body = fc.record(Object.fromEntries(names.map((name) => [name, fc.jsonValue()])), {
      requiredKeys: [],
    });
    fc.assert(
      fc.property(body, (given) => {
        parseRegisterDevice(given, { mode: "live" });
        parseIdentifyUser(given);
      }),
    );
  });
});
