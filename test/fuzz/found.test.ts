/** What the requests made from the description have found, each by itself. */
import { expect, test } from "bun:test";
import { onEveryAdmin } from "../acceptance/running-admin.ts";

onEveryAdmin((start) => {
  test("a registered link with a blank in it, or a number that cannot be called, is refused", async () => {
    await using admin = await start();
    const entity = { account_id: admin.accountId, entity_id: "1101172974420810001" };
    for (const field of ["whitelisted_urls", "callback_numbers"]) {
      const { status, json } = await admin.call("POST", "dlt-entities", { ...entity, [field]: ["a b\r\nc"] });
      expect([status, Object.keys(json.details ?? {})]).toEqual([400, [field, `${field}.0`]]);
    }
    const good = { whitelisted_urls: ["https://a.example/"], callback_numbers: ["1800 123-456"] };
    expect((await admin.call("POST", "dlt-entities", { ...entity, ...good })).status).toBe(201);
  });

  test("a setting's value that is an object is refused, also one that cannot be made a text", async () => {
    await using admin = await start();
    for (const value of [{ toString: "https://" }, [{ toString: 1 }], {}]) {
      const { status, json } = await admin.call("PUT", "settings/batch_duplicates", { value });
      expect([status, json.details]).toEqual([400, { value: "must be text, a number, true or false" }]);
      const all = await admin.call("PUT", "settings", { batch_duplicates: value });
      expect([all.status, Object.keys(all.json.details)]).toEqual([400, ["batch_duplicates"]]);
    }
  });
});
