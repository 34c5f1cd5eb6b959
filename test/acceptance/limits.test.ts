import { expect, test } from "bun:test";
import { createMessageApp } from "../../src/api/app.ts";
import { sms } from "./builders.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const PATH = "/v1/sms/messages";

const SILENT = { isDebug: () => false, debug: () => {}, warn: () => {}, error: () => {} };

function statuses(answers: readonly { status: number }[]) {
  return answers.map(({ status }) => status);
}

async function postTimes(api: RunningApi, count: number, key = api.caller.key) {
  const answers = [];
  for (let i = 0; i < count; i++) answers.push(await api.post(PATH, sms(), { key }));
  return answers;
}

onEveryStore((start) => {
  test("requests with a key are not limited unless a setting says so", async () => {
    await using api = await start();
    expect(new Set(statuses(await postTimes(api, 100)))).toEqual(new Set([202]));
  });

  test("rate_limit_per_key: over it 429 with Retry-After, and other keys go on", async () => {
    await using api = await start();
    const sibling = await api.newKey(api.caller.accountId);
    await api.store.records.setSettings(api.caller.accountId, { rate_limit_per_key: "2" });
    const answers = await postTimes(api, 3);
    expect(statuses(answers)).toEqual([202, 202, 429]);
    expect(answers[2]!.json).toEqual({ code: 429, message: "too many requests" });
    expect(answers[2]!.headers.get("retry-after")).toBe("1");
    expect(statuses(await postTimes(api, 1, sibling.key))).toEqual([202]);
    await api.clock.advance(1000);
    expect(statuses(await postTimes(api, 3))).toEqual([202, 202, 429]);
  });

  test("rate_limit_per_account: its keys share it", async () => {
    await using api = await start();
    const sibling = await api.newKey(api.caller.accountId);
    await api.store.records.setSettings(api.caller.accountId, { rate_limit_per_account: "2" });
    await postTimes(api, 2);
    expect(statuses(await postTimes(api, 1, sibling.key))).toEqual([429]);
    const other = await api.newAccount("sandbox");
    expect(statuses(await postTimes(api, 1, other.key))).toEqual([202]);
  });

  test("a request that its account's limit refuses does not count against its key, nor the other way round", async () => {
    await using api = await start();
    const { accountId } = api.caller;
    const other = await api.newKey(accountId);
    const third = await api.newKey(accountId);
    await api.store.records.setSettings(accountId, { rate_limit_per_key: "1" });
    await api.store.records.setSettings(accountId, { rate_limit_per_account: "2" });
    expect(statuses(await postTimes(api, 3, other.key))).toEqual([202, 429, 429]);
    expect(statuses(await postTimes(api, 1, third.key))).toEqual([202]);
    expect(statuses(await postTimes(api, 3))).toEqual([429, 429, 429]);
    await api.clock.advance(500);
    expect(statuses(await postTimes(api, 1))).toEqual([202]);
  });

  test("push endpoints take a burst of 500 and then 50 a second, per client address and account", async () => {
    await using api = await start();
    const post = async (count: number, body: object = { account_id: api.caller.accountId }) => {
      const sends = Array.from({ length: count }, () =>
        api.post("/v1/push/identify", body, { key: undefined }),
      );
      const limited = (await Promise.all(sends)).filter(({ status }) => status === 429);
      for (const { headers } of limited) {
        expect(headers.get("retry-after")).toMatch(/^\d+$/);
        expect(headers.get("access-control-allow-origin")).toBe("*");
      }
      return limited.length;
    };
    expect(await post(500)).toBe(0);
    expect(await post(10)).toBe(10);
    const other = await api.newAccount("sandbox");
    expect(await post(10, { account_id: other.accountId })).toBe(0);
    await api.clock.advance(1000);
    expect(await post(60)).toBe(10);
  });

  test("push_rate_limit 0 switches the push limit off", async () => {
    await using api = await start();
    await api.store.records.setSettings(api.caller.accountId, { push_rate_limit: "0" });
    const body = { account_id: api.caller.accountId };
    const sends = Array.from({ length: 600 }, () => api.post("/v1/push/identify", body, { key: undefined }));
    expect(statuses(await Promise.all(sends))).not.toContain(429);
  });

  test("a trusted proxy's X-Forwarded-For tells clients apart, anyone else's does not", async () => {
    for (const isTrusted of [true, false]) {
      await using api = await start({
        deps: { isTrustedProxy: (address) => isTrusted && address === "127.0.0.1" },
      });
      await api.store.records.setSettings(api.caller.accountId, { push_rate_burst: "1" });
      const body = { account_id: api.caller.accountId };
      const from = (address: string) =>
        api.post("/v1/push/identify", body, { key: undefined, headers: { "X-Forwarded-For": address } });
      const answers = [await from("198.51.100.1"), await from("198.51.100.2"), await from("198.51.100.1")];
      expect(statuses(answers)).toEqual(isTrusted ? [400, 400, 429] : [400, 429, 429]);
    }
  });

  test("IPv4 clients that a proxy writes as IPv6 addresses in hexadecimal are clients of their own", async () => {
    await using api = await start({ deps: { isTrustedProxy: (address) => address === "127.0.0.1" } });
    await api.store.records.setSettings(api.caller.accountId, { push_rate_burst: "1" });
    const from = (address: string) =>
      api.post(
        "/v1/push/identify",
        { account_id: api.caller.accountId },
        { key: undefined, headers: { "X-Forwarded-For": address } },
      );
    const answers = [
      await from("::ffff:c633:6401"),
      await from("::ffff:c633:6402"),
      await from("198.51.100.1"),
    ];
    expect(statuses(answers)).toEqual([400, 400, 429]);
  });

  test("a client that takes one IPv6 address after another of its network is one client to unsubscribe links", async () => {
    await using api = await start({
      deps: {
        isTrustedProxy: (address) => address === "127.0.0.1",
        unsubscribes: { isKnown: () => false, unsubscribe: async () => false },
      },
    });
    const from = (address: string) =>
      api.get("/unsubscribe/x", { key: undefined, headers: { "X-Forwarded-For": address } });
    const answers = await Promise.all(
      Array.from({ length: 501 }, (_, at) => from(`2001:db8::${at.toString(16)}`)),
    );
    expect(statuses(answers).filter((status) => status === 429)).toHaveLength(1);
    expect((await from("2001:db8:0:1::1")).status).toBe(404);
  });

  test("more requests at work than the limit are refused with 503", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using api = await start({
      limits: { maxInFlight: 2 },
      over: (store) => ({
        ...store,
        intake: {
          ...store.intake,
          async accept(request) {
            await held;
            return store.intake.accept(request);
          },
        },
      }),
    });
    const answers = Array.from({ length: 5 }, () => api.post(PATH, sms()));
    const first = await Promise.race(answers);
    expect(first.status).toBe(503);
    release();
    expect(statuses(await Promise.all(answers)).sort()).toEqual([202, 202, 503, 503, 503]);
    expect((await api.post(PATH, sms())).status).toBe(202);
  });

  test("what a listener forwards takes no place among its own requests", async () => {
    await using api = await start();
    await api.store.records.setSettings(api.caller.accountId, { rate_limit_per_key: "100" });
    const { fetch: answer } = createMessageApp({
      store: api.store,
      clock: api.clock,
      ids: () => "an id",
      log: SILENT,
      isLeaving: () => false,
      isDraining: () => false,
      onRequest: () => {},
      docsAsset: async () => undefined,
      limits: { maxInFlight: 2 },
      forward: async () => Response.json({ forwarded: true }),
    });
    const headers = { Authorization: `Bearer ${api.caller.key}`, "Content-Type": "application/json" };
    const request = () =>
      new Request(api.url + PATH, { method: "POST", headers, body: JSON.stringify(sms()) });
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await answer(request(), () => "127.0.0.1"));
    expect(statuses(answers)).toEqual([200, 200, 200, 200]);
  });
});
