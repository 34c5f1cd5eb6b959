import { expect, test } from "bun:test";
import type { Intake, Store } from "../../src/store/store.ts";
import { email, isoIn, sms } from "./builders.ts";
import { type Answer, onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/sms/messages";
const DAY_MS = 24 * 3600 * 1000;
const KEY = { "Idempotency-Key": "7e3c0f1a-2f0e-4a52-8f5b-6f1f6a3f9d11" };

const NOT_A_KEY = { "Idempotency-Key": "must be 1 to 255 visible ASCII characters" };

async function countJobs(api: RunningApi) {
  const claimed = await api.store.queue.claim({
    queue: "sandbox:sms",
    limit: 100,
    now: api.clock.now(),
    leaseMs: 1000,
  });
  return claimed.length;
}

function isReplay({ headers }: Answer) {
  return headers.get("idempotent-replayed") === "true";
}

onEveryStore((start) => {
  test("the first request with a key is processed normally", async () => {
    await using api = await start();
    const first = await api.post(PATH, sms(), { headers: KEY });
    expect(first.status).toBe(202);
    expect(isReplay(first)).toBe(false);
  });

  test("the same key within 24 hours returns the original response, byte for byte, marked as replayed", async () => {
    await using api = await start();
    const first = await api.post(PATH, sms({ to: ["9876543210", "9876543211"] }), { headers: KEY });
    await api.clock.advance(DAY_MS - 1);
    const again = await api.post(PATH, sms({ to: ["9876543210", "9876543211"] }), { headers: KEY });
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
    expect(again.headers.get("idempotent-payload-mismatch")).toBeNull();
    expect(await countJobs(api)).toBe(2);
  });

  test("the same key after 24 hours is a new request", async () => {
    await using api = await start();
    const first = await api.post(PATH, sms(), { headers: KEY });
    await api.clock.advance(DAY_MS);
    const second = await api.post(PATH, sms(), { headers: KEY });
    expect(isReplay(second)).toBe(false);
    expect(second.json.message_id).not.toBe(first.json.message_id);
  });

  test("without a key nothing is deduplicated", async () => {
    await using api = await start();
    const [first, second] = [await api.post(PATH, sms()), await api.post(PATH, sms())];
    expect(first.json.message_id).not.toBe(second.json.message_id);
  });

  test("the same key with another API key is another request, of the same account too", async () => {
    await using api = await start();
    const sibling = await api.newKey(api.caller.accountId);
    await api.post(PATH, sms(), { headers: KEY });
    expect(isReplay(await api.post(PATH, sms(), { headers: KEY, key: sibling.key }))).toBe(false);
  });

  test("the alias is the same operation, and email is another", async () => {
    await using api = await start();
    await api.post(PATH, sms(), { headers: KEY });
    expect(isReplay(await api.post("/v1/sms/send", sms(), { headers: KEY }))).toBe(true);
    expect(isReplay(await api.post("/v1/emails/messages", email(), { headers: KEY }))).toBe(false);
    expect(isReplay(await api.post("/v1/emails/send", email(), { headers: KEY }))).toBe(true);
  });

  test("another body under the same key is replayed and marked as a mismatch", async () => {
    await using api = await start();
    const first = await api.post(PATH, sms(), { headers: KEY });
    const again = await api.post(PATH, sms({ tags: ["other"] }), { headers: KEY });
    expect(again.text).toBe(first.text);
    expect(isReplay(again)).toBe(true);
    expect(again.headers.get("idempotent-payload-mismatch")).toBe("true");
  });

  test("setting idempotency strict: another body under the same key is 422", async () => {
    await using api = await start();
    await api.store.records.setSettings(api.caller.accountId, { idempotency: "strict" });
    await api.post(PATH, sms(), { headers: KEY });
    const { status, json } = await api.post(PATH, sms({ tags: ["other"] }), { headers: KEY });
    expect(status).toBe(422);
    expect(json).toEqual({ code: 422, message: "idempotency key reused with a different body" });
    expect(isReplay(await api.post(PATH, sms(), { headers: KEY }))).toBe(true);
    expect((await api.post(PATH, "{", { headers: KEY })).status).toBe(422);
  });

  test("fifty requests at once with one key make one message and get one answer", async () => {
    await using api = await start();
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => api.post(PATH, sms(), { headers: KEY })),
    );
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(isReplay)).toHaveLength(49);
    expect(await countJobs(api)).toBe(1);
  });

  test("a refused body is not saved: mended, it may use the same key", async () => {
    await using api = await start();
    expect((await api.post(PATH, sms({ to: "x" }), { headers: KEY })).status).toBe(400);
    const mended = await api.post(PATH, sms(), { headers: KEY });
    expect(mended.status).toBe(202);
    expect(isReplay(mended)).toBe(false);
  });

  test("a repeat whose time has passed since is replayed, not refused", async () => {
    await using api = await start();
    const body = sms({ schedule_at: isoIn(api, 60_000) });
    const first = await api.post(PATH, body, { headers: KEY });
    await api.clock.advance(120_000);
    const again = await api.post(PATH, body, { headers: KEY });
    expect(again.status).toBe(202);
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-payload-mismatch")).toBeNull();
  });

  test("a request that the store takes for too late, since repeats of it may have been refused, is refused as they are", async () => {
    const tooLate: Intake["accept"] = async () => ({ kind: "too_late" });
    const over = (store: Store) => ({ ...store, intake: { ...store.intake, accept: tooLate } });
    await using api = await start({ over });
    const { status, json } = await api.post(PATH, sms({ schedule_at: isoIn(api, 60_000) }), { headers: KEY });
    expect({ status, details: json.details }).toEqual({
      status: 400,
      details: { schedule_at: "must be in the future" },
    });
  });

  test("a repeat with broken JSON is replayed and marked as a mismatch", async () => {
    await using api = await start();
    const first = await api.post(PATH, sms(), { headers: KEY });
    const again = await api.post(PATH, "{", { headers: KEY });
    expect(again.text).toBe(first.text);
    expect(again.headers.get("idempotent-payload-mismatch")).toBe("true");
  });

  test("a key that is none is told of along with all that is wrong with the body, wherever a key is taken", async () => {
    await using api = await start();
    const headers = { "Idempotency-Key": "a b" };
    const paths = [PATH, "/v1/sms/send", "/v1/emails/messages", "/v1/push/register", "/v1/push/identify"];
    for (const path of paths) {
      const without = await api.post(path, {});
      const refused = await api.post(path, {}, { headers });
      expect(refused.json.details).toEqual({ ...without.json.details, ...NOT_A_KEY });
      const broken = await api.post(path, "{", { headers });
      expect(broken.json.details).toEqual({
        body: expect.stringContaining("must be valid JSON"),
        ...NOT_A_KEY,
      });
    }
  });

  test("a dry run says of a key that is none what the send would", async () => {
    await using api = await start();
    const refused = await api.post(PATH, sms({ dry_run: true }), { headers: { "Idempotency-Key": "a b" } });
    expect([refused.status, refused.json.details]).toEqual([400, NOT_A_KEY]);
  });

  test("a key of 255 visible ASCII characters is taken; a longer, empty or other one is refused under its name", async () => {
    await using api = await start();
    expect((await api.post(PATH, sms(), { headers: { "Idempotency-Key": "k".repeat(255) } })).status).toBe(
      202,
    );
    for (const key of ["k".repeat(256), "", "a b", "clé"]) {
      const { status, json } = await api.post(PATH, sms(), { headers: { "Idempotency-Key": key } });
      expect(status).toBe(400);
      expect(Object.keys(json.details)).toEqual(["Idempotency-Key"]);
    }
  });

  test.each([
    ["that could be accepted", sms()],
    ["that would be refused by now, though the first may have been accepted", { to: "9876543210" }],
  ])("a key that is still running elsewhere is 409 with Retry-After: for a request %s", async (_, body) => {
    await using api = await start({
      over: (store) => ({
        ...store,
        intake: {
          ...store.intake,
          accept: async () => ({ kind: "in_progress" }),
          savedAnswer: async () => "in_progress",
        },
      }),
    });
    const { status, json, headers } = await api.post(PATH, body, { headers: KEY });
    expect(status).toBe(409);
    expect(json).toEqual({ code: 409, message: "request in progress" });
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
  });
});
