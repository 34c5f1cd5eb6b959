/** Fields that the admin API does not know: ignored, a misspelt one would do nothing, or be done to all. */
import { beforeAll, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  const refused = async (method: string, path: string, body: object) => {
    const { status, json } = await admin.call(method, path, body);
    expect([path, status, json.message]).toEqual([path, 400, "validation failed"]);
    return json.details;
  };

  test("a misspelt field of a record is refused when it is created and changed, and nothing else of the body is done", async () => {
    const body = { kind: "test", name: "spelt", config: { host: "a.example" } };
    expect(await refused("POST", "connectors", { ...body, enabled: false })).toEqual({
      enabled: "unknown; did you mean is_enabled?",
    });
    const { json } = await admin.call("POST", "connectors", body);
    const change = { name: "renamed", isEnabled: false, colour: null };
    expect(await refused("PATCH", `connectors/${json.id}`, change)).toEqual({
      isEnabled: "unknown; did you mean is_enabled?",
      colour: "unknown; known are name, config, is_enabled",
    });
    expect((await admin.call("GET", `connectors/${json.id}`)).json).toMatchObject({
      name: "spelt",
      is_enabled: true,
    });
    const connectors = [{ connector_id: json.id, wieght: 3 }];
    expect(await refused("POST", "routes", { channel: "sms", account_id: live, connectors })).toEqual({
      "connectors.0.wieght": "unknown; did you mean weight?",
    });
  });

  test("what is to be done in one account only is not done in all because the account's field is misspelt", async () => {
    const unknown = "unknown; did you mean account_id?";
    const erasure = { recipient: "+919876543210", acount_id: live };
    expect(await refused("POST", "erasures", erasure)).toEqual({ acount_id: unknown });
    expect((await admin.call("GET", "erasures")).json.data).toEqual([]);
    expect(await refused("PUT", "settings/batch_duplicates", { value: "merge", account: live })).toEqual({
      account: expect.stringContaining("unknown"),
    });
    const replay = { account_id: live, host: "a.example", fialed: true };
    expect(await refused("POST", "webhooks/replay", replay)).toEqual({
      fialed: "unknown; did you mean failed?",
    });
  });

  test("an entry of a suppression list with a misspelt field is refused by itself; those of a list that was read are taken as they are", async () => {
    const entries = [
      { email: "misspelt@example.net", expiresAt: "2027-01-01T00:00:00Z" },
      { email: "colour@example.net", colour: "red" },
      { email: "good@example.net", reason: "complaint" },
    ];
    const add = async (account_id: string, list: object) =>
      (await admin.call("POST", "suppressions/import", { account_id, entries: list })).json;
    expect(await add(live, entries)).toEqual({
      added: 1,
      kept: 0,
      refused: [
        { index: 0, reason: "expiresAt: unknown; did you mean expires_at?" },
        { index: 1, reason: "colour: unknown; known are email, reason, source, expires_at" },
      ],
    });
    const { data } = (await admin.call("GET", `suppressions?account_id=${live}`)).json;
    expect(await add(admin.accountId, data)).toEqual({ added: 1, kept: 0, refused: [] });
  });

  test("of many unknown fields the first twenty are named", async () => {
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`x${index}`, 1]));
    const details = await refused("POST", "accounts", { name: "Many", mode: "live", ...many });
    expect(Object.keys(details)).toHaveLength(20);
    const config = { host: "a.example", ...many };
    const ofConfig = await refused("POST", "connectors", { kind: "test", name: "many", config });
    expect(Object.keys(ofConfig)).toHaveLength(20);
    expect(Object.keys(await refused("PUT", "settings", many))).toHaveLength(100);
  });
});
