/** A body may take half a minute to arrive. What depends on the time is judged when all of it is there. */
import { expect, test } from "bun:test";
import { until } from "../until.ts";
import { email, isoIn, sms } from "./builders.ts";
import { heldBody } from "./held-body.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const DAY_MS = 24 * 3_600_000;
const SMS = "/v1/sms/messages";
const EMAIL = "/v1/emails/messages";
const KEY = { "Idempotency-Key": "5d0c8f7e-slow" };

/** Posts a body that takes so long to arrive. To be called before any other request, whose timers would wait as well. */
async function postSlowly(api: RunningApi, path: string, { body, ms }: { body: unknown; ms: number }) {
  const { body: stream, end } = heldBody(JSON.stringify(body));
  const headers = {
    Authorization: `Bearer ${api.caller.key}`,
    "Content-Type": "application/json",
    ...KEY,
  };
  const answer = fetch(api.url + path, { method: "POST", headers, body: stream });
  await until(api.clock.pending);
  await api.clock.advance(ms);
  end();
  const response = await answer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look where they like
  return { status: response.status, json: (await response.json()) as any };
}

async function statusIn(api: RunningApi, ms: number, path: string) {
  await api.clock.advance(ms);
  await api.store.queue.expire(api.clock.now(), 10);
  return (await api.get(path)).json.status;
}

onEveryStore((start) => {
  test("the delivery window of an SMS begins when it is created, not when its body began to arrive", async () => {
    await using api = await start();
    const { json } = await postSlowly(api, SMS, { body: sms({ expire_after_seconds: 5 }), ms: 6_000 });
    expect(Date.parse(json.created_at)).toBe(api.clock.now());
    const path = `${SMS}/${json.message_id}`;
    expect([await statusIn(api, 4_999, path), await statusIn(api, 1, path)]).toEqual(["queued", "expired"]);
  });

  test.each([
    [SMS, sms],
    [EMAIL, email],
  ] as const)(
    "%s: a schedule_at that passes while the body arrives is not in the future",
    async (path, build) => {
      await using api = await start();
      const body = build({ schedule_at: isoIn(api, 2_000) });
      const { status, json } = await postSlowly(api, path, { body, ms: 2_000 });
      expect([status, json.details]).toEqual([400, { schedule_at: "must be in the future" }]);
    },
  );

  test.each([
    [SMS, sms],
    [EMAIL, email],
  ] as const)("%s: a schedule_at is at most 7 days ahead of the message's creation", async (path, build) => {
    await using api = await start();
    const body = build({ schedule_at: isoIn(api, 7 * DAY_MS + 2_000) });
    const { status, json } = await postSlowly(api, path, { body, ms: 2_000 });
    expect([status, json.status]).toEqual([202, "scheduled"]);
  });

  test("a key is for 24 hours from the creation of its message", async () => {
    await using api = await start();
    const first = await postSlowly(api, SMS, { body: sms(), ms: 6_000 });
    await api.clock.advance(DAY_MS - 1);
    const repeat = await api.post(SMS, sms(), { headers: KEY });
    expect(repeat.headers.get("idempotent-replayed")).toBe("true");
    expect(repeat.json).toEqual(first.json);
    await api.clock.advance(1);
    const later = await api.post(SMS, sms(), { headers: KEY });
    expect(later.headers.get("idempotent-replayed")).toBeNull();
  });
});
