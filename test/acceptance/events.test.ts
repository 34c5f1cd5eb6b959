import { expect, test } from "bun:test";
import { createEventCursors } from "../../src/api/events/event-cursor.ts";
import { until } from "../until.ts";
import { sendQueued } from "./attempts.ts";
import { sms } from "./builders.ts";
import { rewriteRecord } from "./rewrite-record.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

onEveryStore((start) => {
  test("the feed gives every event of the account in order, as its webhook says it, with its id", async () => {
    await using api = await start();
    const id = await send(api, { tags: ["otp"], metadata: { order: "A-1" } });
    await deliver(api, id);
    const { status, json } = await api.get("/v1/events");
    expect(status).toBe(200);
    expect(json.data).toEqual([
      {
        id: `evt_${id}_1`,
        type: "sms.sent",
        timestamp: iso(api),
        data: {
          message_id: id,
          account_id: api.caller.accountId,
          to: "+919876543210",
          status: "sent",
          sequence: 1,
          occurred_at: iso(api),
          tags: ["otp"],
          metadata: { order: "A-1" },
          segments: 1,
          encoding: "gsm7",
        },
      },
      expect.objectContaining({ id: `evt_${id}_2`, type: "sms.delivered" }),
    ]);
  });

  test("a reader goes on with `next`, also from an empty page, and sees nothing twice", async () => {
    await using api = await start();
    const ids = [await send(api), await send(api), await send(api)];
    const first = (await api.get("/v1/events?limit=2")).json;
    const second = (await api.get(`/v1/events?after=${first.next}`)).json;
    const empty = (await api.get(`/v1/events?after=${second.next}`)).json;
    expect(empty).toEqual({ data: [], next: second.next });
    const last = await send(api);
    const third = (await api.get(`/v1/events?after=${empty.next}`)).json;
    expect([first, second, third].map(messagesOf)).toEqual([ids.slice(0, 2), ids.slice(2), [last]]);
  });

  test("`after=now` leaves out what has happened", async () => {
    await using api = await start();
    await send(api);
    const { json } = await api.get("/v1/events?after=now");
    expect(json.data).toEqual([]);
    const id = await send(api);
    expect(messagesOf((await api.get(`/v1/events?after=${json.next}`)).json)).toEqual([id]);
  });

  test("another account's events are its own", async () => {
    await using api = await start();
    const other = await api.newAccount("sandbox");
    await send(api);
    expect((await api.get("/v1/events", { key: other.key })).json.data).toEqual([]);
    expect((await api.get("/v1/events", { key: undefined })).status).toBe(401);
  });

  test("who waits is answered by the next event of the account, and by no other's", async () => {
    await using api = await start();
    const other = await api.newAccount("sandbox");
    const waiting = api.get("/v1/events?wait=30");
    await somebodyWaits(api);
    await send(api, {}, other.key);
    const id = await send(api);
    expect(messagesOf((await waiting).json)).toEqual([id]);
  });

  test("who waits in vain gets an empty page when the time is over, and can go on from it", async () => {
    await using api = await start();
    const waiting = api.get("/v1/events?wait=2");
    await passUntil(api, waiting);
    const { status, json } = await waiting;
    expect([status, json.data]).toEqual([200, []]);
    const id = await send(api);
    expect(messagesOf((await api.get(`/v1/events?after=${json.next}&wait=30`)).json)).toEqual([id]);
  });

  test("who waits with a key that is revoked meanwhile is told nothing more", async () => {
    await using api = await start();
    const other = await api.newKey(api.caller.accountId);
    const waiting = api.get("/v1/events?wait=30");
    await somebodyWaits(api);
    await rewriteRecord(api, "apiKeys", { id: api.caller.keyId, revokedAt: api.clock.now() });
    await api.clock.advance(1_000);
    await somebodyWaits(api);
    await send(api, {}, other.key);
    await passUntil(api, waiting);
    expect((await waiting).status).toBe(401);
    expect((await api.get("/v1/events", { key: other.key })).json.data).toHaveLength(1);
  });

  test("waiting ends when the process is to stop", async () => {
    let isLeaving = false;
    await using api = await start({ deps: { isLeaving: () => isLeaving } });
    const waiting = api.get("/v1/events?wait=30");
    await somebodyWaits(api);
    isLeaving = true;
    const before = api.clock.now();
    await passUntil(api, waiting);
    expect((await waiting).status).toBe(200);
    expect(api.clock.now() - before).toBeLessThan(5_000);
    // Whoever asks again is not answered at once, again and again, but told to come back.
    const again = await api.get("/v1/events?wait=30");
    expect([again.status, again.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await api.get("/v1/events")).status).toBe(200);
  });

  test("hundreds of readers read few pages at a time, and those that wait for news keep no page from others", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    let reading = 0;
    let isHeld = false;
    await using api = await start({
      over: (store) => ({
        ...store,
        feed: {
          ...store.feed,
          async read(query) {
            reading++;
            if (isHeld) await held;
            reading--;
            return store.feed.read(query);
          },
        },
      }),
    });
    // As many as may read, and no more: they are not to wait for a turn while the clock is moved.
    const waiting = Array.from({ length: 8 }, () => api.get("/v1/events?wait=1"));
    await somebodyWaits(api, waiting.length);
    expect((await api.get("/v1/sms/messages")).status).toBe(200);
    isHeld = true;
    const pages = Array.from({ length: 50 }, () => api.get("/v1/events"));
    // The others look at the clock while they wait for their turn.
    await somebodyWaits(api, waiting.length + pages.length - 8);
    expect(reading).toBe(8);
    release();
    const answers = await Promise.all(pages);
    await passUntil(api, Promise.all(waiting));
    answers.push(...(await Promise.all(waiting)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("a client that goes away leaves its place to others", async () => {
    await using api = await start();
    const leave = new AbortController();
    const gone = Array.from({ length: 50 }, () =>
      fetch(`${api.url}/v1/events?wait=30`, {
        headers: { Authorization: `Bearer ${api.caller.key}` },
        signal: leave.signal,
      }).catch(() => "gone"),
    );
    await somebodyWaits(api, 50);
    const refused = await api.get("/v1/events?wait=30");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await api.get("/v1/events")).status).toBe(200);
    leave.abort();
    expect(await Promise.all(gone)).toEqual(Array(50).fill("gone"));
    // Who was just reading leaves a little later.
    const askAgain = async () => {
      const place = api.get("/v1/events?wait=1");
      await passUntil(api, place);
      return (await place).status;
    };
    await until(askAgain, (status) => status !== 429);
    const waiting = api.get("/v1/events?wait=30");
    await somebodyWaits(api);
    await send(api);
    expect((await waiting).json.data).toHaveLength(1);
  });

  test("a garbled cursor, and one that no event has reached, are refused", async () => {
    await using api = await start();
    await send(api);
    const { accountId } = api.caller;
    const beyond = createEventCursors(await api.store.feed.cursorKey()).seal(
      accountId,
      Number.MAX_SAFE_INTEGER,
    );
    const forged = createEventCursors(Buffer.alloc(32)).seal(accountId, 1);
    const given = (await api.get("/v1/events")).json.next;
    for (const after of [
      "x",
      "",
      "1",
      "ZTE",
      `${forged}=`,
      forged,
      `${given}=`,
      `${given}AAAA`,
      beyond,
      "now2",
      "%00",
      "9".repeat(500),
    ]) {
      const { status, json } = await api.get(`/v1/events?after=${after}`);
      expect([status, json.message, Object.keys(json.details)]).toEqual([
        400,
        "validation failed",
        ["after"],
      ]);
    }
  });

  test("a cursor is its account's own, and tells nothing of how much others send", async () => {
    await using api = await start();
    const other = await api.newAccount("sandbox");
    const now = async (key = api.caller.key) => (await api.get("/v1/events?after=now", { key })).json.next;
    const [mine, theirs] = [await now(), await now(other.key)];
    expect(theirs).not.toBe(mine);
    await send(api, {}, other.key);
    expect(await now()).toBe(mine);
    expect(await now(other.key)).not.toBe(theirs);
    expect((await api.get(`/v1/events?after=${mine}`, { key: other.key })).status).toBe(400);
    const id = await send(api);
    const page = (await api.get(`/v1/events?after=${mine}`)).json;
    expect(messagesOf(page)).toEqual([id]);
    expect(page.next).toMatch(/^[\w-]{22}$/);
    expect(page.next).toBe(await now());
  });

  test("a limit or a wait out of range is refused, all problems at once", async () => {
    await using api = await start();
    for (const query of ["limit=0&wait=31", "limit=1001&wait=-1", "limit=x&wait=1.5", "limit=&wait="]) {
      const { status, json } = await api.get(`/v1/events?${query}`);
      expect([status, Object.keys(json.details)]).toEqual([400, ["limit", "wait"]]);
    }
  });
});

/** An SMS that is accepted and sent. */
async function send(api: RunningApi, over: object = {}, key = api.caller.key): Promise<string> {
  const { json } = await api.post("/v1/sms/messages", sms({ ...over }), { key });
  await sendQueued(api);
  return json.message_id;
}

async function deliver({ store, clock }: RunningApi, id: string): Promise<void> {
  const receipt = {
    connectorId: "connector-secret",
    providerMessageId: `p-${id}`,
    status: "delivered",
  } as const;
  await store.receipts.record([{ ...receipt, receivedAt: clock.now() }]);
}

function messagesOf(page: { data: { data: { message_id: string } }[] }): readonly string[] {
  return page.data.map((event) => event.data.message_id);
}

function iso({ clock }: RunningApi): string {
  return new Date(clock.now()).toISOString();
}

/** Whoever waits looks at the clock. */
async function somebodyWaits({ clock }: RunningApi, count = 1): Promise<void> {
  await until(() => clock.pending() >= count);
}

async function passUntil({ clock }: RunningApi, answer: Promise<unknown>): Promise<void> {
  let isOver = false;
  void answer.finally(() => {
    isOver = true;
  });
  const passOn = async () => {
    if (clock.pending() > 0) await clock.advance(500);
    return isOver;
  };
  await until(passOn, Boolean, { pauseMs: 1 });
}
