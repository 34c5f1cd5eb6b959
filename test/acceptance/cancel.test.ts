import { expect, test } from "bun:test";
import { claimJobs, sendQueued } from "./attempts.ts";
import { email, isoIn, sms } from "./builders.ts";
import { type Answer, onEveryStore, type RunningApi } from "./running-api.ts";

const TOO_LATE = { code: 409, message: "message can no longer be canceled" };

onEveryStore((start) => {
  test("a queued and a scheduled SMS are canceled: failed, told in the feed, and never sent", async () => {
    await using api = await start();
    const ids = [await accept(api, sms()), await accept(api, sms({ schedule_at: isoIn(api, 60_000) }))];
    for (const id of ids) {
      const { status, json } = await cancel(api, id);
      expect(status).toBe(200);
      expect(json).toEqual((await api.get(`/v1/sms/messages/${id}`)).json);
      expect(json).toMatchObject({ message_id: id, status: "failed" });
    }
    await api.clock.advance(120_000);
    await api.store.queue.stage(api.clock.now(), 10);
    expect(await claimJobs(api)).toEqual([]);
    const { data } = (await api.get("/v1/events")).json;
    expect(data.map((event: { type: string }) => event.type)).toEqual(["sms.failed", "sms.failed"]);
    expect(data[0].data.error).toEqual({ code: "canceled", message: expect.any(String) });
  });

  test("an email is canceled for all its recipients", async () => {
    await using api = await start();
    const body = email({ to: [{ email: "a@example.org" }, { email: "b@example.org" }] });
    const { json } = await api.post("/v1/emails/messages", body);
    const answer = await api.post(`/v1/emails/messages/${json.message_id}/cancel`, {});
    expect([answer.status, answer.json.status]).toEqual([200, "failed"]);
    const { data } = (await api.get("/v1/events")).json;
    const told = data.map(({ data: event }: { data: { recipient: string } }) => event.recipient);
    expect(told).toEqual(["a@example.org", "b@example.org"]);
  });

  test("canceling again, with or without a body, is answered alike and changes nothing", async () => {
    await using api = await start();
    const id = await accept(api, sms());
    const first = await cancel(api, id);
    const again = await api.request(`/v1/sms/messages/${id}/cancel`, {
      method: "POST",
      key: api.caller.key,
    });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect((await api.get("/v1/events")).json.data).toHaveLength(1);
  });

  test("a repeat with the same Idempotency-Key is answered alike, as a replay, for 24 hours", async () => {
    await using api = await start();
    for (const [path, body] of [
      ["/v1/sms/messages", sms()],
      ["/v1/emails/messages", email()],
    ] as const) {
      const { message_id: id } = (await api.post(path, body)).json;
      const ask = (key: string) => cancelWith(api, `${path}/${id}`, key);
      const [first, ...repeats] = (await Promise.all([ask("k"), ask("k"), ask("k")])).toSorted(byReplay);
      expect([first!.status, first!.headers.get("idempotent-replayed")]).toEqual([200, null]);
      for (const { status, text, headers } of [...repeats, await ask("k")]) {
        expect([status, text, headers.get("idempotent-replayed")]).toEqual([200, first!.text, "true"]);
        expect(headers.has("idempotent-payload-mismatch")).toBe(false);
      }
      expect((await ask("another")).headers.has("idempotent-replayed")).toBe(false);
      await api.clock.advance(24 * 3_600_000);
      expect((await ask("k")).headers.has("idempotent-replayed")).toBe(false);
      expect((await ask("k")).headers.get("idempotent-replayed")).toBe("true");
    }
  });

  test("a key that canceled one message cancels another one too", async () => {
    await using api = await start();
    const other = await api.newKey(api.caller.accountId);
    for (const key of [api.caller.key, api.caller.key, other.key]) {
      const id = await accept(api, sms());
      const { json, headers } = await cancelWith(api, `/v1/sms/messages/${id}`, "constant", key);
      expect(json).toMatchObject({ message_id: id, status: "failed" });
      expect(headers.has("idempotent-replayed")).toBe(false);
    }
  });

  test("a malformed Idempotency-Key is refused, and nothing is canceled", async () => {
    await using api = await start();
    const id = await accept(api, sms());
    const { status, json } = await cancelWith(api, `/v1/sms/messages/${id}`, "not one word");
    expect([status, Object.keys(json.details)]).toEqual([400, ["Idempotency-Key"]]);
    expect((await api.get(`/v1/sms/messages/${id}`)).json.status).toBe("queued");
  });

  test("a refusal is not saved: the key can be used again", async () => {
    await using api = await start();
    const id = await accept(api, sms());
    const path = `/v1/sms/messages/${id}`;
    const [job] = await claimJobs(api);
    expect((await cancelWith(api, path, "k")).status).toBe(409);
    await api.store.queue.release([job!], api.clock.now());
    const { status, headers } = await cancelWith(api, path, "k");
    expect([status, headers.has("idempotent-replayed")]).toEqual([200, false]);
  });

  test("what is on its way, sent or delivered can no longer be canceled", async () => {
    await using api = await start();
    const sent = await accept(api, sms());
    await sendQueued(api);
    const sending = await accept(api, sms());
    await claimJobs(api);
    for (const id of [sent, sending]) {
      const { status, json } = await cancel(api, id);
      expect([status, json]).toEqual([409, TOO_LATE]);
    }
  });

  test("an unknown, malformed, foreign, other channel's or old id is message not found", async () => {
    await using api = await start();
    const id = await accept(api, sms());
    const other = await api.newAccount("sandbox");
    const paths = [
      "sms/messages/nonsense",
      "sms/messages/0190a5c4-7b1e-7c3a-9f00-2b8d5e6f7a10",
      `emails/messages/${id}`,
    ];
    for (const path of paths) {
      const { status, json } = await api.post(`/v1/${path}/cancel`, {});
      expect([status, json]).toEqual([404, { code: 404, message: "message not found" }]);
    }
    expect((await cancel(api, id, other.key)).status).toBe(404);
    expect((await cancel(api, id, "wrong")).status).toBe(401);
    expect((await api.get(`/v1/sms/messages/${id}/cancel`)).headers.get("allow")).toBe("POST");
    await api.clock.advance(7 * 24 * 3_600_000);
    expect((await cancel(api, id)).status).toBe(404);
  });
});

async function accept(api: RunningApi, body: object): Promise<string> {
  return (await api.post("/v1/sms/messages", body)).json.message_id;
}

function cancel(api: RunningApi, id: string, key = api.caller.key) {
  return api.post(`/v1/sms/messages/${id}/cancel`, {}, { key });
}

function cancelWith(api: RunningApi, path: string, idempotencyKey: string, key = api.caller.key) {
  return api.post(`${path}/cancel`, {}, { key, headers: { "Idempotency-Key": idempotencyKey } });
}

function byReplay(a: Answer, b: Answer): number {
  return Number(a.headers.has("idempotent-replayed")) - Number(b.headers.has("idempotent-replayed"));
}
