import { expect, test } from "bun:test";
import { SANDBOX_QUEUES } from "../../src/core/records/routes.ts";
import { claimJobs, sendQueued, settleJob } from "./attempts.ts";
import { email, sms } from "./builders.ts";
import { onEveryStore } from "./running-api.ts";

onEveryStore((start) => {
  test("a message's timeline names its attempts, events and receipts in order", async () => {
    await using api = await start();
    const id = (await api.post("/v1/sms/messages", sms())).json.message_id;
    const [job] = await claimJobs(api);
    const error = { code: "smpp.0x00000058", message: "throttled" };
    const again = { kind: "again", dueAt: api.clock.now() } as const;
    await settleJob(api, job!, { outcomes: [{ kind: "deferred", error }], detail: {}, next: again });
    await api.store.queue.stage(api.clock.now(), 10);
    await sendQueued(api);
    const receipt = { connectorId: "connector-secret", providerMessageId: `p-${id}`, raw: "stat:DELIVRD" };
    await api.store.receipts.record([
      { ...receipt, status: "delivered", receivedAt: api.clock.now() },
      { ...receipt, status: "undelivered", receivedAt: api.clock.now() },
    ]);
    const { status, json, text } = await api.get(`/v1/sms/messages/${id}/events`);
    expect(status).toBe(200);
    const at = new Date(api.clock.now()).toISOString();
    expect(json).toEqual({
      data: [
        { at, kind: "attempt", status: "queued", error },
        {
          at,
          kind: "attempt",
          status: "sent",
          id: `evt_${id}_1`,
          type: "sms.sent",
          sequence: 1,
          segments: 1,
          encoding: "gsm7",
        },
        {
          at,
          kind: "receipt",
          status: "delivered",
          id: `evt_${id}_2`,
          type: "sms.delivered",
          sequence: 2,
          receipt_status: "delivered",
        },
        { at, kind: "late_receipt", status: "delivered", receipt_status: "undelivered" },
      ],
    });
    for (const secret of ["connector-secret", `p-${id}`, "DELIVRD"]) expect(text).not.toContain(secret);
  });

  test("of an email's recipients each receipt names its own, with that recipient's status and error", async () => {
    await using api = await start();
    const [ann, bob] = ["ann@example.org", "bob@example.org"];
    const to = [{ email: ann }, { email: bob }];
    const id = (await api.post("/v1/emails/messages", email({ to }))).json.message_id;
    const [job] = await claimJobs(api, SANDBOX_QUEUES.email);
    const unknown = { code: "5.1.1", message: "no such user" };
    await settleJob(api, job!, {
      outcomes: [
        { kind: "sent", providerMessageIds: ["p-1"] },
        { kind: "rejected", bounced: true, error: unknown },
      ],
      detail: {},
    });
    const receipt = {
      connectorId: "connector-secret",
      providerMessageId: "p-1",
      receivedAt: api.clock.now(),
    };
    const full = { code: "5.2.2", message: "mailbox full" };
    await api.store.receipts.record([
      { ...receipt, status: "delivered" },
      { ...receipt, status: "delivered" },
      { ...receipt, status: "bounced", error: full },
    ]);
    const { data } = (await api.get(`/v1/emails/messages/${id}/events`)).json;
    const entries = data.map((entry: Record<string, unknown>) => ({ ...entry, at: undefined }));
    const event = (sequence: number, recipient: string, status: string) => ({
      kind: "status",
      status,
      id: `evt_${id}_${sequence}`,
      type: `email.${status}`,
      sequence,
      recipient,
    });
    expect(entries).toEqual([
      { kind: "attempt", status: "bounced", error: unknown },
      event(1, ann, "sent"),
      { ...event(2, bob, "bounced"), error: unknown },
      { kind: "receipt", status: "delivered", recipient: ann, receipt_status: "delivered" },
      event(3, ann, "delivered"),
      { kind: "late_receipt", status: "delivered", recipient: ann, receipt_status: "delivered" },
      { kind: "receipt", status: "bounced", recipient: ann, receipt_status: "bounced", error: full },
      { ...event(4, ann, "bounced"), error: full },
    ]);
  });

  test("what is for operators only is not on it", async () => {
    await using api = await start();
    const { message_id: id } = (await api.post("/v1/sms/messages", sms())).json;
    const [job] = await claimJobs(api);
    // The outcome of an attempt whose lease was lost, and that sent nothing.
    await settleJob(api, { ...job!, claim: job!.claim - 1 }, { outcomes: [undefined] });
    expect(await api.store.messages.timeline({ id })).toMatchObject([{ kind: "lost_settle" }]);
    expect((await api.get(`/v1/sms/messages/${id}/events`)).json).toEqual({ data: [] });
  });

  test("every event of a message is on it, also that of an attempt whose lease was lost", async () => {
    await using api = await start();
    const { message_id: id } = (await api.post("/v1/sms/messages", sms())).json;
    const [slow] = await claimJobs(api);
    await api.clock.advance(60_000);
    await api.store.queue.stage(api.clock.now(), 10);
    await claimJobs(api);
    await settleJob(api, slow!);
    const { data: events } = (await api.get("/v1/events")).json;
    const { data } = (await api.get(`/v1/sms/messages/${id}/events`)).json;
    expect(events).toMatchObject([{ id: `evt_${id}_1`, type: "sms.sent" }]);
    expect(data).toMatchObject([
      { kind: "interrupted", status: "queued" },
      { kind: "attempt", status: "sent", id: `evt_${id}_1`, type: "sms.sent", sequence: 1, segments: 1 },
    ]);
  });

  test("a message nothing has happened to has an empty timeline", async () => {
    await using api = await start();
    const { json } = await api.post("/v1/emails/messages", email());
    expect((await api.get(`/v1/emails/messages/${json.message_id}/events`)).json).toEqual({ data: [] });
  });

  test("an unknown, malformed, foreign, other channel's or old id is message not found", async () => {
    await using api = await start();
    const own = (await api.post("/v1/sms/messages", sms())).json.message_id;
    const mail = (await api.post("/v1/emails/messages", email())).json.message_id;
    const other = await api.newAccount("sandbox");
    for (const id of ["0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10", "nonsense", mail]) {
      const { status, json } = await api.get(`/v1/sms/messages/${id}/events`);
      expect([status, json]).toEqual([404, { code: 404, message: "message not found" }]);
    }
    expect((await api.get(`/v1/sms/messages/${own}/events`, { key: other.key })).status).toBe(404);
    await api.clock.advance(7 * 24 * 3_600_000);
    expect((await api.get(`/v1/sms/messages/${own}/events`)).status).toBe(404);
  });
});
