import { expect, test } from "bun:test";
import { email, sms, TEMPLATE_ID } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const WEEK_MS = 7 * 24 * 3600 * 1000;

onEveryStore((start) => {
  test("every field that was given is returned under its own name", async () => {
    await using api = await start();
    const given = {
      from: "ACMECO",
      template_id: TEMPLATE_ID,
      dlt_template_id: "1107161234567890123",
      dlt_entity_id: "1101172974420810001",
      variables: { "1": "Asha", "2": 4821 },
      callback_url: "https://example.com/hook",
      tags: ["otp", "login"],
      metadata: { order_id: "A-1001" },
    };
    const sent = await api.post("/v1/sms/messages", { to: "9876543210", ...given });
    const { status, json } = await api.get(`/v1/sms/messages/${sent.json.message_id}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      message_id: sent.json.message_id,
      account_id: api.caller.accountId,
      to: "+919876543210",
      ...given,
      status: "queued",
      created_at: sent.json.created_at,
    });
  });

  test("each answer about a message has its own request's X-Request-Id", async () => {
    await using api = await start();
    const path = "/v1/sms/messages";
    const sent = await api.post(path, sms());
    expect(sent.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    for (const id of ["trace-8", "trace-9"]) {
      const headers = { "X-Request-Id": id };
      const posted = await api.post(path, sms(), { headers });
      const read = await api.get(`${path}/${sent.json.message_id}`, { headers });
      const told = [posted, read].map((answer) => [answer.status, answer.headers.get("x-request-id")]);
      expect(told).toEqual([
        [202, id],
        [200, id],
      ]);
    }
  });

  test("an id counts in capitals too", async () => {
    await using api = await start();
    const { message_id: id } = (await api.post("/v1/sms/messages", sms())).json;
    const { status, json } = await api.get(`/v1/sms/messages/${id.toUpperCase()}`);
    expect([status, json.message_id]).toEqual([200, id]);
  });

  test("optional fields are absent when not used", async () => {
    await using api = await start();
    const sent = await api.post("/v1/sms/messages", sms());
    const { json } = await api.get(`/v1/sms/messages/${sent.json.message_id}`);
    expect(Object.keys(json)).toEqual([
      "message_id",
      "account_id",
      "to",
      "template_id",
      "status",
      "created_at",
    ]);
  });

  test("every message of a batch can be looked up", async () => {
    await using api = await start();
    const batch = ["+919876543210", "+14155550123"];
    const sent = await api.post("/v1/sms/messages", sms({ to: batch, tags: ["a"] }));
    const ids: string[] = sent.json.messages.map((each: { message_id: string }) => each.message_id);
    const found = await Promise.all(ids.map((id) => api.get(`/v1/sms/messages/${id}`)));
    expect(found.map(({ json }) => [json.message_id, json.to, json.tags])).toEqual(
      batch.map((to, index) => [ids[index], to, ["a"]]),
    );
  });

  test("a scheduled message reads scheduled", async () => {
    await using api = await start();
    const schedule_at = new Date(api.clock.now() + 60_000).toISOString();
    const sent = await api.post("/v1/sms/messages", sms({ schedule_at }));
    expect((await api.get(`/v1/sms/messages/${sent.json.message_id}`)).json.status).toBe("scheduled");
  });

  test("an unknown, malformed, foreign or other channel's id is message not found", async () => {
    await using api = await start();
    const sent = await api.post("/v1/sms/messages", sms());
    const mail = await api.post("/v1/emails/messages", email());
    const other = await api.newAccount("sandbox");
    const ids = ["0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10", "nonsense", "%00", "%ff", mail.json.message_id];
    for (const id of ids) {
      const { status, json } = await api.get(`/v1/sms/messages/${id}`);
      expect(json).toEqual({ code: 404, message: "message not found" });
      expect(status).toBe(404);
    }
    const foreign = await api.get(`/v1/sms/messages/${sent.json.message_id}`, { key: other.key });
    expect(foreign.json).toEqual({ code: 404, message: "message not found" });
  });

  test("after the 7-day retention period a message is not found", async () => {
    await using api = await start();
    const sent = await api.post("/v1/sms/messages", sms());
    await api.clock.advance(WEEK_MS - 1);
    expect((await api.get(`/v1/sms/messages/${sent.json.message_id}`)).status).toBe(200);
    await api.clock.advance(1);
    const { status, json } = await api.get(`/v1/sms/messages/${sent.json.message_id}`);
    expect(status).toBe(404);
    expect(json.message).toBe("message not found");
  });

  test("Authorization is required", async () => {
    await using api = await start();
    const { status } = await api.get(`/v1/sms/messages/${TEMPLATE_ID}`, { key: undefined });
    expect(status).toBe(401);
  });

  test("HEAD answers like GET without a body", async () => {
    await using api = await start();
    const sent = await api.post("/v1/sms/messages", sms());
    const path = `/v1/sms/messages/${sent.json.message_id}`;
    const got = await api.get(path);
    const { status, text, headers } = await api.request(path, { method: "HEAD", key: api.caller.key });
    expect(status).toBe(200);
    expect(text).toBe("");
    expect(headers.get("content-length")).toBe(got.headers.get("content-length"));
  });
});
