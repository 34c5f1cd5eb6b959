import { beforeAll, describe, expect, test } from "bun:test";
import { SETTINGS } from "../../src/core/records/settings.ts";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const NOBODY = "01890000-0000-7000-8000-000000000000";

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

    test("an account named in the body is refused: the instance's setting would change instead", async () => {
      const { status, json } = await admin.call("PUT", "settings/keep_bodies", {
        value: true,
        account_id: live,
      });
      expect([status, json.details]).toEqual([400, { account_id: "belongs in the query: ?account_id=…" }]);
      expect((await admin.call("GET", "settings/keep_bodies")).json.value).toBe(false);
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
      expect(bad.json.details.colour).toStartWith("unknown; known are ");
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

    test("a number that JSON has rounded is refused: an id of 19 digits would be stored as another one", async () => {
      const details = async (path: string, body: object) =>
        (await admin.call("PUT", path, body)).json.details;
      const rounded = 2 ** 60;
      const reason = "numbers from 2^53 on would be rounded: give them as strings";
      expect(await details("settings/default_dlt_entity_id", { value: rounded })).toEqual({ value: reason });
      const several = { keep_bodies: true, default_dlt_entity_id: rounded };
      expect(await details("settings", several)).toEqual({ default_dlt_entity_id: reason });
      const exact = { value: 2 ** 53 - 1 };
      const { json } = await admin.call("PUT", `settings/default_dlt_entity_id?account_id=${live}`, exact);
      expect(json.value).toBe("9007199254740991");
    });

    test("a secret setting is never shown, only that there is one", async () => {
      const secret = `whsec_${"A".repeat(32)}`;
      const { json } = await admin.call("PUT", "settings/alarm_webhook_secret", { value: secret });
      expect(json).toMatchObject({ value: "(set)", set_by: "instance" });
      expect(JSON.stringify((await admin.call("GET", "settings")).json)).not.toContain(secret);
      expect(await admin.store.records.settings(undefined)).toMatchObject({ alarm_webhook_secret: secret });
      await admin.call("PUT", "settings/alarm_webhook_secret", { value: null });
      expect((await admin.call("GET", "settings/alarm_webhook_secret")).json).not.toHaveProperty("value");
    });

    test("a setting that there is not is 404, a value of no plain kind 400", async () => {
      expect((await admin.call("GET", "settings/colour")).status).toBe(404);
      expect((await admin.call("PUT", "settings/colour", { value: 1 })).status).toBe(404);
      expect((await admin.call("PUT", "settings/idempotency", { value: {} })).json.details).toHaveProperty(
        "value",
      );
      expect((await admin.call("PUT", "settings/idempotency", {})).json.details).toEqual({
        value: "required",
      });
      expect((await admin.call("GET", `settings?account_id=${NOBODY}`)).json.details).toHaveProperty(
        "account_id",
      );
    });
  });

  describe("webhook secrets", () => {
    test("a rotation puts a new one first and keeps the one before, no more", async () => {
      const path = `webhooks/secret?account_id=${live}`;
      const all = async () =>
        (await admin.call("GET", path)).json.secrets as { secret: string; created_at: string }[];
      const secrets = async () => (await all()).map(({ secret }) => secret);
      const [first] = await secrets();
      expect(first).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      await admin.call("POST", `webhooks/secret/rotate?account_id=${live}`);
      const [second, ...rest] = await secrets();
      expect(rest).toEqual([first!]);
      const newest = (await all())[0]?.created_at;
      const { json } = await admin.call("POST", `webhooks/secret/rotate?account_id=${live}&newest=${newest}`);
      expect(json.secrets.map((each: { secret: string }) => each.secret)).toEqual([
        expect.any(String),
        second,
      ]);
      expect(json.secrets).toHaveLength(2);
    });

    test("the account has to be named, and to be there", async () => {
      expect((await admin.call("GET", "webhooks/secret")).json.details).toEqual({ account_id: "required" });
      expect((await admin.call("POST", `webhooks/secret/rotate?account_id=${NOBODY}`)).status).toBe(400);
    });
  });
});
