import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { InboundPiece } from "../../src/core/inbound/inbound.ts";
import { createIds } from "../../src/core/uuid.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const DAY = 24 * 3_600_000;

onEveryStore((start) => {
  test("what handsets wrote is listed newest first with what is known of it", async () => {
    await using api = await start();
    const [first, second] = [await receive(api), await receive(api, { text: "STOP", segments: 2 })];
    const { status, json } = await api.get("/v1/sms/inbound");
    expect(status).toBe(200);
    expect(json).toEqual({
      data: [
        {
          message_id: second,
          account_id: api.caller.accountId,
          from: "+919812345678",
          to: "56161",
          text: "STOP",
          segments: 2,
          encoding: "gsm7",
          keyword: "stop",
          received_at: new Date(api.clock.now()).toISOString(),
        },
        expect.objectContaining({ message_id: first, text: "hello" }),
      ],
    });
  });

  test("what came seven days ago is not listed any more, whatever is asked for", async () => {
    await using api = await start();
    await receive(api);
    await api.clock.advance(7 * DAY);
    for (const after of ["", `?after=${new Date(0).toISOString()}`])
      expect((await api.get(`/v1/sms/inbound${after}`)).json).toEqual({ data: [] });
  });

  test("a list is cut into pages that together hold everything once", async () => {
    await using api = await start();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.unshift(await receive(api));
    const seen: string[] = [];
    let cursor = "";
    do {
      const { json } = await api.get(`/v1/sms/inbound?limit=2${cursor && `&cursor=${cursor}`}`);
      seen.push(...json.data.map((row: { message_id: string }) => row.message_id));
      cursor = json.next ?? "";
    } while (cursor);
    expect(seen).toEqual(ids);
  });

  test("a list is filtered by sender, number and time", async () => {
    await using api = await start();
    const from = await receive(api, { from: "+14155550123" });
    await api.clock.advance(60_000);
    const to = await receive(api, { to: "+14155550999" });
    const at = encodeURIComponent(new Date(api.clock.now()).toISOString());
    const count = async (query: string) =>
      (await api.get(`/v1/sms/inbound?${query}`)).json.data.map(
        (row: { message_id: string }) => row.message_id,
      );
    expect(await count("from=%2B14155550123")).toEqual([from]);
    expect(await count("from=+1 (415) 555-0123")).toEqual([from]);
    expect(await count("to=14155550999")).toEqual([to]);
    expect(await count(`after=${at}`)).toEqual([to]);
    expect(await count(`before=${at}`)).toEqual([from]);
    expect(await count(`before=${at}&to=14155550999`)).toEqual([]);
  });

  test("nobody sees another account's messages, nor those that are nobody's, nor those 7 days old", async () => {
    await using api = await start();
    const other = await api.newAccount("live");
    await receive(api, { accountId: undefined, to: "99999" });
    const mine = await receive(api);
    expect((await api.get("/v1/sms/inbound", { key: other.key })).json).toEqual({ data: [] });
    await api.clock.advance(7 * DAY - 1);
    expect((await api.get("/v1/sms/inbound")).json.data).toMatchObject([{ message_id: mine }]);
    await api.clock.advance(1);
    expect((await api.get("/v1/sms/inbound")).json).toEqual({ data: [] });
  });

  test("every problem of a query is reported under its name", async () => {
    await using api = await start();
    const query = "limit=0&cursor=x&after=yesterday&before=2026-02-30T00:00:00Z&from=&to=%00";
    const { status, json } = await api.get(`/v1/sms/inbound?${query}`);
    expect(status).toBe(400);
    expect(json.message).toBe("validation failed");
    expect(Object.keys(json.details).sort()).toEqual(["after", "before", "cursor", "from", "limit", "to"]);
  });

  test("a list needs a key", async () => {
    await using api = await start();
    expect((await api.request("/v1/sms/inbound")).status).toBe(401);
  });
});

/** Ids of one service ascend. */
const makers = new WeakMap<RunningApi, () => string>();

/** Stores one for the caller, and gives its id. */
async function receive(api: RunningApi, over: Partial<{ [K in keyof InboundPiece]: unknown }> = {}) {
  const newId = makers.get(api) ?? createIds(api.clock, randomBytes);
  makers.set(api, newId);
  const id = newId();
  const now = api.clock.now();
  const piece = {
    id,
    accountId: api.caller.accountId,
    connectorId: "c",
    from: "+919812345678",
    to: "56161",
    text: "hello",
    encoding: "gsm7",
    segments: 1,
    receivedAt: now,
    key: id,
    sameSince: now,
    ...over,
  };
  await api.store.inbound.receive([JSON.parse(JSON.stringify(piece))]);
  return id;
}
