import { expect, test } from "bun:test";
import type { WebhookAttempt, WebhookVerdict } from "../../src/core/webhooks/webhook-outbox.ts";
import { createWorld } from "../../src/store/contract/world.contract.ts";
import { onEveryAdmin, type RunningAdmin } from "./running-admin.ts";

const HOST = "hooks.test";

type Result = Omit<WebhookAttempt, "at" | "ms">;

/** An account whose messages have a callback URL, and deliveries of their events with a result that the test names. */
async function withCallbacks(admin: RunningAdmin) {
  const world = await createWorld(admin.store);
  const { clock, account, store, sms, claim, settle, receive } = world;
  clock.now = admin.clock.now();
  const lane = { accountId: account.id, host: HOST };
  return {
    clock,
    accountId: account.id,
    /** Has one event, of type `sms.sent`. */
    async send(): Promise<string> {
      const [id = ""] = await sms({ content: { callbackUrl: `https://${HOST}/` } });
      for (const job of await claim(10)) await settle(job);
      return id;
    },
    async deliver(result: Result, verdict: WebhookVerdict): Promise<void> {
      const [event] = await store.outbox.claim({
        lanes: [{ lane, limit: 1 }],
        now: clock.now,
        leaseMs: 60_000,
      });
      const attempt = { at: clock.now, ms: 12, ...result };
      expect(await store.outbox.settle([{ ...event!, verdict, attempt }])).toEqual([true]);
    },
    /** Makes a second event, of type `sms.delivered`. */
    hear: (id: string) => receive(`p-${id}`),
    async due(): Promise<void> {
      clock.now += 5_000;
      expect(await store.outbox.stage(clock.now, 10)).toBe(1);
    },
  };
}

const TIMEOUT = { code: "timeout", message: "no complete answer within 15 s" };

onEveryAdmin((start) => {
  test("an event is shown by its id with its attempts, and in lists with the result of the last", async () => {
    await using admin = await start();
    const { accountId, clock, send, deliver, due } = await withCallbacks(admin);
    const id = await send();
    const shown = async () => (await admin.call("GET", `webhooks/evt_${id}_1`)).json;
    const listed = async (query: string) => (await admin.call("GET", `webhooks?${query}`)).json.data;
    const untried = await shown();
    expect(untried).toEqual({
      id: `evt_${id}_1`,
      account_id: accountId,
      host: HOST,
      message_id: id,
      sequence: 1,
      type: "sms.sent",
      state: "ready",
      occurred_at: new Date(clock.now).toISOString(),
      failures: 0,
      attempts: 0,
      last_attempts: [],
    });
    expect(await listed(`account_id=${accountId}`)).toEqual([{ ...untried, last_attempts: undefined }]);

    const first = { at: new Date(clock.now).toISOString(), latency_ms: 12, error: TIMEOUT };
    await deliver({ error: TIMEOUT }, { kind: "again", at: clock.now + 5_000 });
    expect((await listed(`account_id=${accountId}`))[0]).toMatchObject({
      state: "waiting",
      last_attempt: first,
    });

    await due();
    await deliver({ status: 410, head: "gone for good" }, { kind: "ended", reason: "gone" });
    const last = { at: new Date(clock.now).toISOString(), latency_ms: 12, status: 410 };
    const { last_attempts, ...event } = await shown();
    expect(last_attempts).toEqual([first, { ...last, answer: "gone for good" }]);
    expect(event).toMatchObject({ state: "failed", failures: 2, attempts: 2, last_attempt: last });
    expect(event.last_attempt).toEqual(last);
    for (const query of [
      `account_id=${accountId}`,
      `account_id=${accountId}&state=failed`,
      `message_id=${id}`,
    ]) {
      expect(await listed(query)).toEqual([event]);
    }
  });

  test("of events on one page each has its own last attempt", async () => {
    await using admin = await start();
    const { accountId, send, deliver } = await withCallbacks(admin);
    for (const status of [200, 204, 202]) {
      await send();
      await deliver({ status, head: "" }, { kind: "delivered" });
    }
    await send();
    const { data } = (await admin.call("GET", `webhooks?account_id=${accountId}`)).json;
    const results = data.map((event: { last_attempt?: { status: number } }) => event.last_attempt?.status);
    expect(results).toEqual([200, 204, 202, undefined]);
  });

  test("events are listed from either end, page by page, each once", async () => {
    await using admin = await start();
    const { accountId, clock, send, deliver } = await withCallbacks(admin);
    const ids: string[] = [];
    for (let n = 0; n < 5; n++) {
      ids.push(await send());
      await deliver({ status: 410, head: "" }, { kind: "ended", reason: "gone" });
      if (n % 2 === 1) clock.now += 1_000;
    }
    const pages = async (query: string) => {
      const seen: string[] = [];
      let next: string | undefined;
      do {
        const path = `webhooks?account_id=${accountId}&limit=2&${query}${next ? `&after=${next}` : ""}`;
        const { json } = await admin.call("GET", path);
        seen.push(...json.data.map((event: { message_id: string }) => event.message_id));
        next = json.next;
      } while (next !== undefined);
      return seen;
    };
    for (const oldestFirst of ["", "order=oldest", "state=failed"])
      expect(await pages(oldestFirst)).toEqual(ids);
    for (const newestFirst of ["", `&host=${HOST}`, "&state=failed"])
      expect(await pages(`order=newest${newestFirst}`)).toEqual(ids.toReversed());
    const until = new Date(admin.clock.now() + 1_000).toISOString();
    expect(await pages(`order=newest&until=${until}`)).toEqual([ids[1]!, ids[0]!]);
  });

  test("the events of one message are listed from either end too, and another order is refused with whatever else is wrong", async () => {
    await using admin = await start();
    const { accountId, send, hear } = await withCallbacks(admin);
    const id = await send();
    await hear(id);
    const of = async (query: string) => (await admin.call("GET", `webhooks?message_id=${id}${query}`)).json;
    const sequences = async (query: string) =>
      (await of(query)).data.map(({ sequence }: { sequence: number }) => sequence);
    expect(await sequences("")).toEqual([1, 2]);
    expect(await sequences("&order=newest")).toEqual([2, 1]);
    for (const which of [`account_id=${accountId}`, `message_id=${id}`]) {
      const { json } = await admin.call("GET", `webhooks?${which}&order=latest&limit=0`);
      expect(json.details).toEqual({
        order: "must be one of oldest, newest",
        limit: "must be a whole number from 1 to 1000",
      });
    }
  });

  test("an id of no event is 404, in whatever form", async () => {
    await using admin = await start();
    const { send } = await withCallbacks(admin);
    const id = await send();
    for (const unknown of [`evt_${id}_2`, `evt_${admin.accountId}_1`, "evt_x_1", id, "x"]) {
      const answer = await admin.call("GET", `webhooks/${unknown}`);
      expect([unknown, answer.status, answer.json.message]).toEqual([unknown, 404, "not found"]);
    }
    expect((await admin.call("GET", "webhooks/hosts")).json).toEqual({ data: [], is_delivering: true });
  });
});
