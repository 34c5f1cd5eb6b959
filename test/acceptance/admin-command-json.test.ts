/** What `create` prints, exactly as scripts rely on it. */
import { expect, test } from "bun:test";
import { send } from "../admin.ts";
import { typeBesideService } from "./typed-commands.ts";

const { spawned, text, service } = typeBesideService();

test("accounts create --json prints exactly the account id", async () => {
  const { code, out, err } = await spawned("accounts create --name N --mode sandbox --json".split(" "));
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^\{"account_id":"[0-9a-f-]{36}"\}\n$/);
});

test("keys create --json prints exactly the id and the key, and the key works at once", async () => {
  const { out } = await spawned(["keys", "create", "--account", service().sandbox.account_id, "--json"]);
  expect(out).toMatch(/^\{"key_id":"[0-9a-f-]{36}","api_key":"pr_live_[0-9A-Za-z]{38}"\}\n$/);
  const answer = await send(service(), {
    apiKey: JSON.parse(out).api_key,
    path: "/v1/sms/messages",
    body: { to: "+919876543210", dlt_template_id: "1" },
  });
  expect(answer.status).toBe(202);
});

test("keys create prints the key for people, with the advice to keep it", async () => {
  const out = await text("keys", "create", "--account", service().sandbox.account_id);
  expect(out).toMatch(/^api_key +pr_live_[0-9A-Za-z]{38}$/m);
  expect(out).toContain("Keep the api_key now");
});
