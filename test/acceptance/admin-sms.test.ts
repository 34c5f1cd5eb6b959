import { beforeAll, describe, expect, test } from "bun:test";
import { onSharedAdmin, type RunningAdmin } from "./running-admin.ts";

onSharedAdmin((start) => {
  let admin: RunningAdmin;
  let live: string;

  beforeAll(async () => {
    ({ admin, live } = await start());
  });

  describe("SMS templates", () => {
    const create = (over: object) =>
      admin.call("POST", "sms-templates", { account_id: live, name: "t", body: "Hi {#var#}", ...over });

    test("show the variables that their body asks for", async () => {
      const { json } = await create({ body: "{#numeric#} and {#var#}" });
      expect(json.placeholders).toEqual([
        { name: "1", kind: "numeric" },
        { name: "2", kind: "var" },
      ]);
    });

    test("name the characters that force UCS-2, but for those that the account has written plainly", async () => {
      expect((await create({ body: "Hi {#var#}, pay €5" })).json).toMatchObject({
        encoding: "gsm7",
        forces_ucs2: [],
      });
      const { json } = await create({ body: "“Hi” {#var#}, pay ₹5 – “now”" });
      expect(json).toMatchObject({ encoding: "ucs2", forces_ucs2: ["“", "”", "₹", "–"] });
      const at = `sms-templates/${json.id}`;
      await admin.call("PUT", `settings/sms_transliterate?account_id=${live}`, { value: "true" });
      expect((await admin.call("GET", at)).json).toMatchObject({ encoding: "gsm7", forces_ucs2: [] });
      const registered = await create({ body: "“Hi” {#var#}", dlt_template_id: "1107160000000000080" });
      expect(registered.json).toMatchObject({ encoding: "ucs2", forces_ucs2: ["“", "”"] });
      const changed = await admin.call("PATCH", at, { body: "“नमस्ते” {#var#}" });
      expect(changed.json).toMatchObject({ encoding: "ucs2", forces_ucs2: ["“", "न", "म", "स्ते", "”"] });
    });

    test("what looks like a placeholder and is none is refused", async () => {
      expect((await create({ body: "Hi {{name}}" })).json.details.body).toContain("{{name}}");
      expect((await create({ body: "Hi {#var}" })).json.details.body).toContain("{#var}");
    });

    test("a body that needs more variables than a message can have is refused", async () => {
      expect((await create({ body: "{#var#}".repeat(20) })).status).toBe(201);
      expect((await create({ body: "{#var#}".repeat(21) })).json.details.body).toContain("21");
    });

    test("DLT ids are digits in a live account, anything short in a sandbox", async () => {
      const ids = { dlt_template_id: "abc", dlt_entity_id: "x" };
      expect(Object.keys((await create(ids)).json.details)).toEqual(["dlt_template_id", "dlt_entity_id"]);
      expect((await create({ ...ids, account_id: admin.accountId })).status).toBe(201);
    });

    test("a DLT template id leads to one template of the account", async () => {
      const { json } = await create({ dlt_template_id: "1107160000000000077" });
      const twin = await create({ dlt_template_id: "1107160000000000077" });
      expect([twin.status, twin.json.message]).toEqual([409, "conflict"]);
      expect(twin.json.details.dlt_template_id).toContain(json.id);
    });

    test("a new one counts for the first request after its answer, also where it was missed just before", async () => {
      const account_id = admin.accountId;
      const { json: key } = await admin.call("POST", "keys", { account_id });
      const dlt_template_id = "1107160000000000079";
      const statusOfSend = async () => {
        const answer = await fetch(`${admin.url}/v1/sms/messages`, {
          method: "POST",
          headers: { Authorization: `Bearer ${key.api_key}`, "Content-Type": "application/json" },
          body: JSON.stringify({ to: "+919876543210", dlt_template_id }),
        });
        return answer.status;
      };
      // A sandbox takes the ids of templates that it does not know; of one that it knows, the variables are asked for.
      expect(await statusOfSend()).toBe(202);
      expect((await create({ account_id, dlt_template_id })).status).toBe(201);
      expect(await statusOfSend()).toBe(400);
    });

    test("null clears an optional field, and is refused for a required one", async () => {
      const { json } = await create({ dlt_template_id: "1107160000000000078", from: "ACME" });
      const cleared = await admin.call("PATCH", `sms-templates/${json.id}`, {
        dlt_template_id: null,
        from: null,
      });
      expect(cleared.json).not.toHaveProperty("dlt_template_id");
      expect(cleared.json).not.toHaveProperty("from");
      const refused = await admin.call("PATCH", `sms-templates/${json.id}`, { body: null, name: null });
      expect(refused.json.details).toEqual({ body: "cannot be cleared", name: "cannot be cleared" });
    });

    test("text that no database holds is refused", async () => {
      expect((await create({ body: "a\0b" })).json.details.body).toContain("NUL");
    });
  });

  describe("senders", () => {
    const create = (sender_id: string, over: object = {}) =>
      admin.call("POST", "senders", { account_id: live, sender_id, ...over });

    test.each(["ABCDEF", "600123", "+4912345", "A b.c-d_e", "H&M", "X+1"])("%s can be one", async (id) => {
      expect((await create(id)).status).toBe(201);
    });

    test.each(["TOOLONGNAME1", "12", "ÄBC", " AB", "AB\n", "+AB", "A@B"])("%p cannot be one", async (id) => {
      expect((await create(id)).json.details).toHaveProperty("sender_id");
    });

    test("one that is taken is refused", async () => {
      await create("TWICE");
      expect(await create("TWICE")).toMatchObject({
        status: 409,
        json: { details: { sender_id: expect.any(String) } },
      });
    });

    test("a bad linked template id is named by its index", async () => {
      const { json } = await create("LINKED", { linked_dlt_template_ids: ["1107160000000000001", "x"] });
      expect(json.details).toHaveProperty(["linked_dlt_template_ids.1"]);
    });

    test("an account has one default: the newest", async () => {
      const { json: first } = await create("FIRST", { is_default: true });
      const { json: second } = await create("SECOND", { is_default: true });
      const isDefault = async (id: string) => (await admin.call("GET", `senders/${id}`)).json.is_default;
      expect([await isDefault(first.id), await isDefault(second.id)]).toEqual([false, true]);
      await admin.call("PATCH", `senders/${first.id}`, { is_default: true });
      expect([await isDefault(first.id), await isDefault(second.id)]).toEqual([true, false]);
    });
  });
});
