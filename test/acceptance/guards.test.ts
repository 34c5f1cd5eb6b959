import { expect, test } from "bun:test";
import { liveAccount, sms } from "./builders.ts";
import { type Caller, onEveryStore, type RunningApi } from "./running-api.ts";

const A = "+919876543210";
const B = "+919876543211";
const HOUR = 3_600_000;

const set = (api: RunningApi, name: string, value: string) =>
  api.store.records.setSettings(api.caller.accountId, { [name]: value });

const send = (api: RunningApi, to: string | string[], over = {}, caller: Caller = api.caller) =>
  api.post("/v1/sms/messages", sms({ to, ...over }), { key: caller.key });

const optOut = (api: RunningApi, recipient: string, over = {}) =>
  api.add("optOuts", { accountId: api.caller.accountId, recipient, reason: "asked", ...over });

onEveryStore((start) => {
  test("who has opted out of a sender is refused, and so is a batch with such a one, which says who", async () => {
    await using api = await start();
    await optOut(api, A, { sender: "ACME" });
    const one = await send(api, A, { from: "Acme" });
    expect(one.status).toBe(400);
    expect(one.json.details).toEqual({ to: "has opted out of messages from this sender" });
    const batch = await send(api, [B, A], { from: "ACME" });
    expect(batch.json.details).toEqual({
      to: "1 of 2 recipients have opted out of messages from this sender",
      "to.1": "has opted out of messages from this sender",
    });
    expect((await send(api, A, { from: "OTHER" })).status).toBe(202);
    expect((await send(api, B, { from: "ACME" })).status).toBe(202);
  });

  test("an opt-out without a sender is of all, counts within a second, and so does its end", async () => {
    await using api = await start();
    expect((await send(api, A)).status).toBe(202);
    const { id } = await optOut(api, A);
    await api.clock.advance(1_000);
    expect((await send(api, A)).status).toBe(400);
    await api.store.records.remove("optOuts", id);
    await api.clock.advance(1_000);
    expect((await send(api, A)).status).toBe(202);
  });

  test("the last of many who have opted out is refused as well", async () => {
    await using api = await start();
    const many = Array.from({ length: 202 }, (_, index) => `+9198765${String(index).padStart(5, "0")}`);
    await Promise.all(many.map((recipient) => optOut(api, recipient)));
    for (const recipient of [many[0]!, many.at(-1)!]) expect((await send(api, recipient)).status).toBe(400);
    expect((await send(api, "+14155550123")).status).toBe(202);
  });

  test("who has opted out is refused after their erasure too, and others are not", async () => {
    await using api = await start();
    await optOut(api, A, { sender: "ACME" });
    expect((await send(api, A, { from: "ACME" })).status).toBe(400);
    const { store, clock } = api;
    const id = "019bc180-0000-7000-8000-000000000002";
    await store.erasures.create({ id, recipient: A, salt: "s", digest: "d", createdAt: clock.now() });
    while ((await store.erasures.advance(clock.now(), 100)) > 0);
    for (let seconds = 0; seconds < 2; seconds++) {
      expect((await send(api, A, { from: "ACME" })).status).toBe(400);
      expect((await send(api, B, { from: "ACME" })).status).toBe(202);
      expect((await send(api, A, { from: "OTHER" })).status).toBe(202);
      expect((await send(api, A)).status).toBe(400);
      await api.clock.advance(1_000);
    }
  });

  test("a message that names no sender is refused to who has opted out of any, in a long list as in a short one", async () => {
    await using api = await start();
    await optOut(api, A, { sender: "ACME" });
    expect((await send(api, A)).status).toBe(400);
    expect((await send(api, B)).status).toBe(202);
    for (let count = 0; count < 210; count++) await optOut(api, `+9198000${10_000 + count}`, { sender: "X" });
    await api.clock.advance(1_000);
    expect((await send(api, A)).status).toBe(400);
    expect((await send(api, B)).status).toBe(202);
  });

  test("a long list is honoured like a short one", async () => {
    await using api = await start();
    for (let count = 0; count < 210; count++) await optOut(api, `+9198000${10_000 + count}`, { sender: "X" });
    await optOut(api, A, { sender: "ACME" });
    expect((await send(api, A, { from: "ACME" })).status).toBe(400);
    expect((await send(api, A, { from: "X" })).status).toBe(202);
    expect((await send(api, ["+919800010209", B], { from: "X" })).json.details["to.0"]).toContain(
      "opted out",
    );
  });

  test("of a live account the sender that is resolved counts", async () => {
    await using api = await start();
    const live = await liveAccount(api);
    await api.add("optOuts", { accountId: live.accountId, sender: "ACMECO", recipient: A, reason: "asked" });
    const over = { template_id: live.templateId, variables: { "1": "1", "2": "2" } };
    await api.add("optOuts", { accountId: live.accountId, sender: "OTHER", recipient: B, reason: "asked" });
    expect((await send(api, A, over, live)).json.details.to).toContain("opted out");
    expect((await send(api, B, over, live)).status).toBe(202);
  });

  test("an account goes to its allowed destinations only", async () => {
    await using api = await start();
    await set(api, "allowed_destinations", "91, +4420");
    for (const to of [A, "+442071838750"]) expect((await send(api, to)).status).toBe(202);
    const refused = await send(api, "+14155550123");
    expect(refused.status).toBe(400);
    expect(refused.json.details.to).toBe(
      "the account may only send to numbers that begin with +91, +4420 (allowed_destinations)",
    );
    const batch = await send(api, [A, "+14155550123", "+447911123456"]);
    expect(Object.keys(batch.json.details)).toEqual(["to", "to.1", "to.2"]);
    expect(batch.json.details.to).toBe("2 of 3 numbers are not among those the account may send to");
  });

  test("beyond its messages a day an account is told to wait for the next, and a batch is taken whole or not", async () => {
    await using api = await start();
    await set(api, "daily_message_limit", "3");
    expect((await send(api, [A, B])).status).toBe(202);
    const over = await send(api, [A, B]);
    expect([over.status, over.json.message]).toEqual([429, "too many requests"]);
    expect(over.json.details).toEqual({
      to: "the account is limited to 3 messages a day, 2 of them taken today (daily_message_limit)",
    });
    expect((await send(api, A)).status).toBe(202);
    // A part of a second is a whole one: who waited for less would be refused again.
    await api.clock.advance(700);
    const waitSeconds = Number((await send(api, A)).headers.get("Retry-After"));
    await api.clock.advance((waitSeconds - 1) * 1_000);
    expect((await send(api, A)).headers.get("Retry-After")).toBe("1");
    await api.clock.advance(1_000);
    expect((await send(api, A)).status).toBe(202);
  });

  test("a request that takes more than a whole day has is told to be split, for waiting would not help", async () => {
    await using api = await start();
    await set(api, "daily_message_limit", "2");
    const three = [A, B, "+919876543212"];
    const over = await send(api, three);
    expect([over.status, over.json.message]).toEqual([429, "too many requests"]);
    const sentence = (used: number) =>
      `the account is limited to 2 messages a day, ${used} of them taken today; ` +
      "this request takes 3, more than a whole day has, and has to be split (daily_message_limit)";
    expect(over.json.details).toEqual({ to: sentence(0) });
    expect((await send(api, three.slice(0, 2))).status).toBe(202);
    expect((await send(api, three)).json.details).toEqual({ to: sentence(2) });
    expect((await send(api, three.slice(2))).json.details.to).not.toContain("split");
    const { messages } = (await send(api, three, { dry_run: true })).json;
    expect(JSON.stringify(messages[0])).toContain(sentence(2));
  });

  test("of segments it is told of the request, or of the one message that is too long for any day", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const body = `${"long ".repeat(40)}{#var#}`;
    const template = await api.add("smsTemplates", { accountId, name: "t", body });
    const over = { template_id: template.id, variables: { "1": "x" } };
    const said = async (to: string | string[]) => (await send(api, to, over)).json.details.to;
    await set(api, "daily_segment_limit", "3");
    expect(await said([A, B])).toBe(
      "the account is limited to 3 segments a day, 0 of them taken today; " +
        "this request takes 4, more than a whole day has, and has to be split (daily_segment_limit)",
    );
    await set(api, "daily_segment_limit", "1");
    await api.clock.advance(1_000);
    expect(await said([A, B])).toBe(
      "the account is limited to 1 segment a day, 0 of them taken today; " +
        "each message of this request takes 2, more than a whole day has (daily_segment_limit)",
    );
  });

  test("a day's segments are those of the text that goes out", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const template = await api.add("smsTemplates", {
      accountId,
      name: "t",
      body: `${"long ".repeat(40)}{#var#}`,
    });
    // Counted since any limit of a day was set, also if that of segments comes later.
    await set(api, "daily_message_limit", "9");
    const over = { template_id: template.id, variables: { "1": "x" } };
    expect((await send(api, A, over)).status).toBe(202);
    await set(api, "daily_segment_limit", "3");
    await api.clock.advance(1_000);
    expect((await send(api, A, over)).json.details.to).toContain("3 segments a day, 2 of them");
    expect((await send(api, A)).status).toBe(202);
  });

  test("one number gets no more than its limit, which a batch counts too", async () => {
    await using api = await start();
    await set(api, "recipient_hourly_limit", "2");
    const reason = "the account is limited to 2 messages to one number an hour (recipient_hourly_limit)";
    expect((await send(api, A)).status).toBe(202);
    const batch = await send(api, [B, A, A]);
    expect(batch.status).toBe(429);
    expect(batch.json.details).toEqual({
      to: `2 of 3 numbers: ${reason}`,
      "to.1": reason,
      "to.2": reason,
    });
    expect((await send(api, [B, A])).status).toBe(202);
    expect((await send(api, A)).json.details).toEqual({ to: reason });
    expect((await send(api, B)).status).toBe(202);
    await api.clock.advance(HOUR);
    expect((await send(api, A)).status).toBe(202);
  });

  test("a batch with more to one number than its whole limit is told to be split, for waiting would not help", async () => {
    await using api = await start();
    await set(api, "recipient_hourly_limit", "2");
    const limit = "the account is limited to 2 messages to one number an hour";
    const plain = `${limit} (recipient_hourly_limit)`;
    const split = (count: number) =>
      `${limit}; this request has ${count} to one, more than a whole hour has, and has to be split (recipient_hourly_limit)`;
    expect((await send(api, [B, B])).status).toBe(202);
    const C = "+919876543212";
    const over = await send(api, [A, A, A, B, C, C, C, C]);
    expect([over.status, over.json.message]).toEqual([429, "too many requests"]);
    expect(over.json.details).toEqual({
      to: `7 of 8 numbers: ${split(4)}; 1 of 8 numbers: ${plain}`,
      ...Object.fromEntries([0, 1, 2].map((index) => [`to.${index}`, split(3)])),
      "to.3": plain,
      ...Object.fromEntries([4, 5, 6, 7].map((index) => [`to.${index}`, split(4)])),
    });
    const { messages } = (await send(api, [A, A, A, B], { dry_run: true })).json;
    const told = messages.map((each: object) => JSON.stringify(each));
    expect(told[0]).toContain(split(3));
    expect(told[3]).toContain(plain);

    await set(api, "recipient_daily_limit", "2");
    await api.clock.advance(1_000);
    expect((await send(api, [A, A, A])).json.details["to.0"]).toContain(
      "3 to one, more than a whole day has",
    );
    await set(api, "batch_duplicates", "once");
    await api.clock.advance(1_000);
    expect((await send(api, [A, A, A])).status).toBe(202);
    expect((await send(api, A)).status).toBe(202);
    expect((await send(api, [A, A, A])).json.details.to).not.toContain("split");
    expect((await send(api, [A, A], { dry_run: true })).json.would_send).toBe(false);
  });

  test("a dry run counts against the limits what a request would send: its segments, and a repeat only if it is sent", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const { id } = await api.add("smsTemplates", { accountId, name: "long", body: "x".repeat(161) });
    await set(api, "daily_segment_limit", "3");
    const wouldSend = async (to: string[]) =>
      (await send(api, to, { template_id: id, dry_run: true })).json.would_send;
    expect([await wouldSend([A]), await wouldSend([A, B]), await wouldSend([A, A])]).toEqual([
      true,
      false,
      false,
    ]);
    await set(api, "batch_duplicates", "once");
    await api.clock.advance(1_000);
    expect(await wouldSend([A, A])).toBe(true);
  });

  test("a dry run says what the limits would make of a request, in the same words, and counts nothing", async () => {
    await using api = await start();
    const limits = ({
      checks,
    }: {
      checks: readonly { check: string; verdict: string; details?: object }[];
    }) => checks.find(({ check }) => check === "limits");
    const dryRun = async (to: string | string[]) => (await send(api, to, { dry_run: true })).json;
    expect(limits(await dryRun(A))?.verdict).toBe("not_applicable");
    await set(api, "daily_message_limit", "3");
    await set(api, "recipient_hourly_limit", "1");
    await api.clock.advance(1_000);
    for (let times = 0; times < 4; times++) expect(limits(await dryRun(A))?.verdict).toBe("passed");
    expect((await send(api, A)).status).toBe(202);
    const real = await send(api, A);
    expect(await dryRun(A)).toMatchObject({ would_send: false });
    expect(limits(await dryRun(A))).toMatchObject({ verdict: "refused", details: real.json.details });
    const batch = await dryRun([A, B]);
    expect(batch.would_send).toBe(false);
    expect(batch.messages.map((each: { would_send: boolean }) => each.would_send)).toEqual([false, true]);
    const many = await dryRun([B, "+919876543212", "+919876543213"]);
    const refused = () => ({ verdict: "refused" });
    expect(many.messages.map(limits)).toMatchObject([refused(), refused(), refused()]);
  });

  test("a repeat of a request that was taken is answered as before, at the limit too", async () => {
    await using api = await start();
    await set(api, "daily_message_limit", "1");
    const headers = { "Idempotency-Key": "k-1" };
    const request = () => api.post("/v1/sms/messages", sms({ to: A }), { headers });
    const first = await request();
    const again = await request();
    expect([again.status, again.text]).toEqual([202, first.text]);
    expect(again.headers.get("Idempotent-Replayed")).toBe("true");
    expect((await send(api, A)).status).toBe(429);
  });
});
