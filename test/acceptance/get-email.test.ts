import { expect, test } from "bun:test";
import { email, sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

const PATH = "/v1/emails/messages";

onEveryStore((start) => {
  test("the fields of the table are returned, and never a body", async () => {
    await using api = await start();
    const given = {
      from: { email: "hello@example.com", name: "Acme" },
      to: [{ email: "asha@example.org", name: "Asha" }, { email: "b@example.org" }],
      cc: [{ email: "c@example.org" }],
      bcc: [{ email: "d@example.org" }],
      subject: "Ordered ✓",
      tags: ["order"],
      metadata: { id: 7 },
    };
    const hidden = { body_html: "<b>", body_text: "t", reply_to: "r@example.com", headers: { "X-A": "b" } };
    const sent = await api.post(PATH, { ...given, ...hidden });
    const { status, json } = await api.get(`${PATH}/${sent.json.message_id}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      message_id: sent.json.message_id,
      account_id: api.caller.accountId,
      ...given,
      status: "queued",
      created_at: sent.json.created_at,
    });
  });

  test("cc, bcc, tags and metadata are absent when not given", async () => {
    await using api = await start();
    const sent = await api.post(PATH, email());
    const { json } = await api.get(`${PATH}/${sent.json.message_id}`);
    expect(Object.keys(json)).toEqual([
      "message_id",
      "account_id",
      "from",
      "to",
      "subject",
      "status",
      "created_at",
    ]);
  });

  test("an unknown id, an SMS's id and another account's id are message not found", async () => {
    await using api = await start();
    const text = await api.post("/v1/sms/messages", sms());
    const mail = await api.post(PATH, email());
    const other = await api.newAccount("sandbox");
    const answers = [
      await api.get(`${PATH}/nonsense`),
      await api.get(`${PATH}/${text.json.message_id}`),
      await api.get(`${PATH}/${mail.json.message_id}`, { key: other.key }),
    ];
    for (const { status, json } of answers) {
      expect(status).toBe(404);
      expect(json).toEqual({ code: 404, message: "message not found" });
    }
  });

  test("after 7 days an email is not found", async () => {
    await using api = await start();
    const { json } = await api.post(PATH, email());
    await api.clock.advance(7 * 24 * 3600 * 1000);
    expect((await api.get(`${PATH}/${json.message_id}`)).status).toBe(404);
  });

  test("Authorization is required", async () => {
    await using api = await start();
    expect((await api.get(`${PATH}/x`, { key: undefined })).status).toBe(401);
  });
});
