import { expect, test } from "bun:test";
import { email, isoIn, sms, TEMPLATE_ID } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const DAY_MS = 24 * 3600 * 1000;

onEveryStore((start) => {
  test("a single recipient is answered 202 with message_id, status queued, the normalized number and created_at", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/messages", sms());
    expect(status).toBe(202);
    expect(json).toEqual({
      message_id: expect.stringMatching(UUID_V7),
      status: "queued",
      to: "+919876543210",
      created_at: "2026-01-15T12:00:00.000Z",
    });
  });

  test("POST /v1/sms/send is an equivalent alias", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/send", sms());
    expect(status).toBe(202);
    expect((await api.get(`/v1/sms/messages/${json.message_id}`)).status).toBe(200);
  });

  test("to: an array is answered with messages, one per recipient, in order", async () => {
    await using api = await start();
    const to = ["+919876543210", "9876543211", "+14155550123"];
    const { status, json } = await api.post("/v1/sms/messages", sms({ to }));
    expect(status).toBe(202);
    expect(Object.keys(json)).toEqual(["messages"]);
    expect(json.messages.map((m: { to: string }) => m.to)).toEqual([
      "+919876543210",
      "+919876543211",
      "+14155550123",
    ]);
    for (const message of json.messages) {
      expect(Object.keys(message)).toEqual(["message_id", "status", "to", "created_at"]);
    }
    expect(new Set(json.messages.map((m: { message_id: string }) => m.message_id)).size).toBe(3);
  });

  test("to: an array of one is a batch", async () => {
    await using api = await start();
    const { json } = await api.post("/v1/sms/messages", sms({ to: ["+919876543210"] }));
    expect(json.messages).toHaveLength(1);
  });

  test("to: a batch of 1,000 is accepted and one of 1,001 refused", async () => {
    await using api = await start();
    const to = Array.from({ length: 1001 }, (_, i) => `+9198${String(i).padStart(8, "0")}`);
    const { status, json } = await api.post("/v1/sms/messages", sms({ to: to.slice(1) }));
    expect(status).toBe(202);
    expect(json.messages).toHaveLength(1000);
    const refused = await api.post("/v1/sms/messages", sms({ to }));
    expect(refused.status).toBe(400);
    expect(refused.json.details.to).toContain("1000");
  });

  test("to: an Indian number lacking a country code is normalized to the +91 prefix", async () => {
    await using api = await start();
    for (const to of ["9876543210", "09876543210", "919876543210", "+91 98765 43210"]) {
      expect((await api.post("/v1/sms/messages", sms({ to }))).json.to).toBe("+919876543210");
    }
  });

  test("to: a bad phone number is refused under to and the sentence names E.164", async () => {
    await using api = await start();
    for (const to of ["12345", "abc", "+0123456789", "+91987654321012345"]) {
      const { status, json } = await api.post("/v1/sms/messages", sms({ to }));
      expect(status).toBe(400);
      expect(json).toMatchObject({ code: 400, message: "validation failed" });
      expect(json.details.to).toContain("invalid phone number");
      expect(json.details.to).toContain("E.164");
    }
  });

  test("to: bad entries of a batch are listed by index, at most 20, with a summary under to", async () => {
    await using api = await start();
    const { json } = await api.post(
      "/v1/sms/messages",
      sms({ to: ["+919876543210", ...Array(30).fill("x")] }),
    );
    expect(json.details.to).toContain("30 of 31");
    expect(json.details["to.1"]).toContain("E.164");
    expect(Object.keys(json.details).filter((name) => name.startsWith("to."))).toHaveLength(20);
  });

  test("to: missing, empty or null is required", async () => {
    await using api = await start();
    for (const body of [{ template_id: TEMPLATE_ID }, sms({ to: "" }), sms({ to: null })]) {
      expect((await api.post("/v1/sms/messages", body)).json.details).toEqual({ to: "required" });
    }
    expect((await api.post("/v1/sms/messages", sms({ to: [] }))).status).toBe(400);
  });

  test("from is optional and kept", async () => {
    await using api = await start();
    const { json } = await api.post("/v1/sms/messages", sms({ from: "ACMECO" }));
    expect((await api.get(`/v1/sms/messages/${json.message_id}`)).json.from).toBe("ACMECO");
  });

  test("template_id or dlt_template_id is required, and the same sentence stands under both", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/messages", { to: "+919876543210" });
    expect(status).toBe(400);
    expect(Object.keys(json.details).sort()).toEqual(["dlt_template_id", "template_id"]);
    expect(json.details.template_id).toBe(json.details.dlt_template_id);
  });

  test("template_id must be a UUID", async () => {
    await using api = await start();
    const { json } = await api.post("/v1/sms/messages", sms({ template_id: "welcome" }));
    expect(json.details).toEqual({ template_id: expect.stringContaining("UUID") });
  });

  test("dlt_template_id alone is enough, with dlt_entity_id alongside", async () => {
    await using api = await start();
    const body = {
      to: "+919876543210",
      dlt_template_id: "1107161234567890123",
      dlt_entity_id: "1101172974420810001",
    };
    expect((await api.post("/v1/sms/messages", body)).status).toBe(202);
  });

  test("variables: numeric keys up to 20 are accepted; other keys, and 21, are refused", async () => {
    await using api = await start();
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i + 1}`, "x"]));
    expect((await api.post("/v1/sms/messages", sms({ variables: many(20) }))).status).toBe(202);
    expect(
      (await api.post("/v1/sms/messages", sms({ variables: many(21) }))).json.details.variables,
    ).toContain("20");
    expect((await api.post("/v1/sms/messages", sms({ variables: { name: "x" } }))).status).toBe(400);
  });

  test("variables: a numeric key has as many digits as its placeholder", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const template = await api.add("smsTemplates", { accountId, name: "t", body: "{{1}} of {{1000}}" });
    const filled = (variables: object) =>
      api.post("/v1/sms/messages", sms({ template_id: template.id, variables }));
    expect((await filled({ "1": "a" })).json.details).toEqual({
      "variables.1000": "required by the template",
    });
    const { json } = await filled({ "1": "a", "1000": "b" });
    expect((await api.get(`/v1/sms/messages/${json.message_id}`)).json.variables).toEqual({
      "1": "a",
      "1000": "b",
    });
  });

  test("variables and metadata: a number that reading would round is refused, and not passed on as another", async () => {
    await using api = await start();
    const body = (id: string) =>
      `{"to":"+919876543210","dlt_template_id":"t","variables":{"1":${id}},"metadata":{"order":${id}}}`;
    const largest = await api.post("/v1/sms/messages", body("9007199254740991"));
    expect((await api.get(`/v1/sms/messages/${largest.json.message_id}`)).json).toMatchObject({
      variables: { "1": 9007199254740991 },
      metadata: { order: 9007199254740991 },
    });
    const inexact = "numbers from 2^53 on would be rounded: give them as strings";
    for (const id of ["9007199254740992", "9007199254740993"]) {
      const { status, json } = await api.post("/v1/sms/messages", body(id));
      expect(status).toBe(400);
      expect(json.details).toEqual({ metadata: inexact, "variables.1": inexact });
    }
    expect((await api.post("/v1/sms/messages", body('"9007199254740993"'))).status).toBe(202);
  });

  test("callback_url must start with https://", async () => {
    await using api = await start();
    const good = sms({ callback_url: "https://10.0.0.1:8443/hook?x=1" });
    expect((await api.post("/v1/sms/messages", good)).status).toBe(202);
    const { json } = await api.post("/v1/sms/messages", sms({ callback_url: "http://example.com/hook" }));
    expect(json.details.callback_url).toBe("must start with https://");
  });

  test("schedule_at in the future makes the message scheduled", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/messages", sms({ schedule_at: isoIn(api, 60_000) }));
    expect(status).toBe(202);
    expect(json.status).toBe("scheduled");
  });

  test("schedule_at in the past, over 7 days ahead, or no ISO 8601 time is refused", async () => {
    await using api = await start();
    expect((await api.post("/v1/sms/messages", sms({ schedule_at: isoIn(api, 7 * DAY_MS) }))).status).toBe(
      202,
    );
    for (const schedule_at of [
      isoIn(api, 0),
      isoIn(api, 7 * DAY_MS + 1),
      "tomorrow",
      "2026-02-30T10:00:00Z",
    ]) {
      const { status, json } = await api.post("/v1/sms/messages", sms({ schedule_at }));
      expect(status).toBe(400);
      expect(Object.keys(json.details)).toEqual(["schedule_at"]);
    }
  });

  test("expire_after_seconds ranges from 5 to 86400", async () => {
    await using api = await start();
    for (const expire_after_seconds of [5, 86_400]) {
      expect((await api.post("/v1/sms/messages", sms({ expire_after_seconds }))).status).toBe(202);
    }
    for (const expire_after_seconds of [4, 86_401, 5.5, "60"]) {
      const { json } = await api.post("/v1/sms/messages", sms({ expire_after_seconds }));
      expect(Object.keys(json.details)).toEqual(["expire_after_seconds"]);
    }
  });

  test("the delivery window starts when the message is due, and is a day by default", async () => {
    await using api = await start();
    const endsAfter = async (windowMs: number, body: Record<string, unknown>) => {
      const { json } = await api.post("/v1/sms/messages", sms(body));
      const statusIn = async (ms: number) => {
        await api.clock.advance(ms);
        await api.store.queue.stage(api.clock.now(), 10);
        await api.store.queue.expire(api.clock.now(), 10);
        return (await api.get(`/v1/sms/messages/${json.message_id}`)).json.status;
      };
      expect([await statusIn(windowMs - 1), await statusIn(1)]).toEqual(["queued", "expired"]);
    };
    await endsAfter(DAY_MS, {});
    await endsAfter(30_000, { expire_after_seconds: 30 });
    await endsAfter(90_000, { expire_after_seconds: 30, schedule_at: isoIn(api, 60_000) });
  });

  test("tags: 10 are accepted and 11 refused", async () => {
    await using api = await start();
    expect((await api.post("/v1/sms/messages", sms({ tags: Array(10).fill("t") }))).status).toBe(202);
    const { json } = await api.post("/v1/sms/messages", sms({ tags: Array(11).fill("t") }));
    expect(json.details.tags).toContain("10");
  });

  test("metadata is any object", async () => {
    await using api = await start();
    const metadata = { order: { id: 7, lines: [1, 2] }, note: null };
    const { json } = await api.post("/v1/sms/messages", sms({ metadata }));
    expect((await api.get(`/v1/sms/messages/${json.message_id}`)).json.metadata).toEqual(metadata);
    expect((await api.post("/v1/sms/messages", sms({ metadata: "x" }))).status).toBe(400);
  });

  test("unknown fields are ignored", async () => {
    await using api = await start();
    expect((await api.post("/v1/sms/messages", sms({ priority: "high" }))).status).toBe(202);
  });

  test("all problems of a body are reported at once", async () => {
    await using api = await start();
    const { json } = await api.post("/v1/sms/messages", { to: "x", tags: "y", expire_after_seconds: 1 });
    expect(Object.keys(json.details).sort()).toEqual(
      ["dlt_template_id", "expire_after_seconds", "tags", "template_id", "to"].sort(),
    );
  });

  test("batch_duplicates once: repeats share the first one's message_id", async () => {
    await using api = await start();
    const to = ["+919876543210", "+14155550123", "9876543210"];
    const sent = await api.post("/v1/sms/messages", sms({ to }));
    expect(new Set(sent.json.messages.map((m: { message_id: string }) => m.message_id)).size).toBe(3);
    await api.store.records.setSettings(api.caller.accountId, { batch_duplicates: "once" });
    await api.clock.advance(1000);
    const once = await api.post("/v1/sms/messages", sms({ to }));
    const ids = once.json.messages.map((m: { message_id: string }) => m.message_id);
    expect(ids).toHaveLength(3);
    expect(ids[2]).toBe(ids[0]);
    expect(ids[1]).not.toBe(ids[0]);
  });

  test("a template of the sandbox account says which variables it needs", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const template = await api.add("smsTemplates", { accountId, name: "t", body: "Hi {#var#}, {#var#}!" });
    const body = sms({ template_id: template.id, variables: { "1": "Asha" } });
    const { status, json } = await api.post("/v1/sms/messages", body);
    expect(status).toBe(400);
    expect(json.details).toEqual({ "variables.2": "required by the template" });
  });

  test("a missing key is 401 before the body is judged", async () => {
    await using api = await start();
    const { status, json } = await api.post("/v1/sms/messages", { nonsense: true }, { key: undefined });
    expect(status).toBe(401);
    expect(json).toEqual({ code: 401, message: "invalid or missing API key" });
    expect((await api.post("/v1/sms/messages", email())).status).toBe(400);
  });
});
