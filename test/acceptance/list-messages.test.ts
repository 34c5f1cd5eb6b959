import { expect, test } from "bun:test";
import { until } from "../until.ts";
import { sendQueued } from "./attempts.ts";
import { email, isoIn, sms } from "./builders.ts";
import { onEveryStore, type RunningApi } from "./running-api.ts";

const DAY_MS = 24 * 3_600_000;

onEveryStore((start) => {
  test("messages are listed newest first, each as Get shows it", async () => {
    await using api = await start();
    const ids = await sendSms(api, ["+919876543210", "+14155550123"]);
    const { status, json } = await api.get("/v1/sms/messages");
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["data"]);
    const shown = [];
    for (const id of ids.toReversed()) shown.push((await api.get(`/v1/sms/messages/${id}`)).json);
    expect(json.data).toEqual(shown);
    const mail = (await api.post("/v1/emails/messages", email())).json.message_id;
    const mails = (await api.get("/v1/emails/messages")).json;
    expect(mails.data).toEqual([(await api.get(`/v1/emails/messages/${mail}`)).json]);
    expect(JSON.stringify(mails)).not.toContain("It is on its way");
  });

  test("pages follow one another to the end", async () => {
    await using api = await start();
    const to = Array.from({ length: 7 }, (_, index) => `+1415555012${index}`);
    const ids = await sendSms(api, to);
    const seen: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const { json } = await api.get(`/v1/sms/messages?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...idsOf(json));
      cursor = json.next;
    }
    expect(seen).toEqual(ids.toReversed());
  });

  test("status, tag, recipient and time narrow the list", async () => {
    await using api = await start();
    const [sent = ""] = await sendSms(api, ["+919876543210"], { tags: ["otp", "login"] });
    await sendQueued(api);
    const between = isoIn(api, 500);
    await api.clock.advance(1_000);
    const [queued = ""] = await sendSms(api, ["+14155550123"]);
    const mail = (await api.post("/v1/emails/messages", email({ cc: [{ email: "Copy@example.org" }] }))).json;
    const found = async (query: string) => idsOf((await api.get(`/v1/sms/messages?${query}`)).json);
    expect(await found("status=sent")).toEqual([sent]);
    expect(await found("status=delivered")).toEqual([]);
    expect(await found("tag=login")).toEqual([sent]);
    expect(await found("to=%2B14155550123")).toEqual([queued]);
    expect(await found("to=+14155550123")).toEqual([queued]);
    expect(await found("to=9876543210&status=sent&tag=otp")).toEqual([sent]);
    expect(await found(`created_after=${between}`)).toEqual([queued]);
    expect(await found(`created_before=${between}`)).toEqual([sent]);
    expect(await found(`created_after=${between.replace("Z", "+00:00")}`)).toEqual([queued]);
    const mails = await api.get("/v1/emails/messages?to=copy@EXAMPLE.org&status=queued");
    expect(idsOf(mails.json)).toEqual([mail.message_id]);
  });

  test("a filter that is given twice is refused, since only one of the two could narrow the list", async () => {
    await using api = await start();
    const { status, json } = await api.get("/v1/sms/messages?status=sent&tag=a&status=failed");
    expect([status, json.details]).toEqual([400, { status: "must be given only once" }]);
  });

  test("a parameter that a list does not know is refused, since the list would not be narrowed, or never end", async () => {
    await using api = await start();
    const misspelt = await api.get("/v1/sms/messages?stauts=failed&Tag=otp");
    expect(misspelt.json.details).toEqual({
      stauts: "unknown; did you mean status?",
      Tag: "unknown; did you mean tag?",
    });
    const ofAnotherList = await api.get("/v1/sms/messages?after=01");
    expect(ofAnotherList.json.details.after).toStartWith("unknown; known are status, ");
    expect(ofAnotherList.json.details.after).toContain("cursor");
    const many = Array.from({ length: 500 }, (_, index) => `x${index}=1`).join("&");
    expect(Object.keys((await api.get(`/v1/events?${many}`)).json.details)).toHaveLength(20);
    expect((await api.get("/healthz?x=1")).status).toBe(200);
  });

  test("an email to an international domain is listed under either spelling of it", async () => {
    await using api = await start();
    const ids: string[] = [];
    for (const address of ["info@bücher.example", "info@xn--bcher-kva.example"]) {
      const { json } = await api.post("/v1/emails/messages", email({ to: [{ email: address }] }));
      ids.unshift(json.message_id);
    }
    for (const to of ["info@bücher.example", "Info@xn--bcher-kva.example", "info@BÜCHER.example"]) {
      const found = await api.get(`/v1/emails/messages?${new URLSearchParams({ to })}`);
      expect(idsOf(found.json)).toEqual(ids);
    }
  });

  test("another account's messages and those past retention are not listed", async () => {
    await using api = await start();
    const other = await api.newAccount("sandbox");
    await sendSms(api, ["+919876543210"]);
    expect((await api.get("/v1/sms/messages", { key: other.key })).json).toEqual({ data: [] });
    expect((await api.get("/v1/sms/messages", { key: undefined })).status).toBe(401);
    await api.clock.advance(7 * DAY_MS);
    const past = isoIn(api, -10 * DAY_MS);
    expect((await api.get(`/v1/sms/messages?created_after=${past}`)).json).toEqual({ data: [] });
  });

  test("what a list cannot be asked for is refused, all problems at once", async () => {
    await using api = await start();
    const bad = {
      status: "bounced",
      to: "nobody",
      created_after: "2026-01-15T12:00:00",
      created_before: "2026-02-30T00:00:00Z",
      limit: "201",
      cursor: "x",
    };
    const { status, json } = await api.get(`/v1/sms/messages?${new URLSearchParams(bad)}`);
    expect([status, json.message]).toEqual([400, "validation failed"]);
    expect(Object.keys(json.details).sort()).toEqual(Object.keys(bad).sort());
    // It is ISO 8601, and yet not a point in time: the answer has to say what is missing.
    expect(json.details.created_after).toContain("with Z or an offset");
    expect((await api.get("/v1/emails/messages?status=bounced")).status).toBe(200);
    expect((await api.get("/v1/emails/messages?to=%2B14155550123")).status).toBe(400);
  });

  test("503: a list that waits 5 s because those before it do not end, with Retry-After", async () => {
    const release: (() => void)[] = [];
    const list = () =>
      new Promise<{ messages: [] }>((resolve) => release.push(() => resolve({ messages: [] })));
    await using api = await start({
      over: (store) => ({ ...store, messages: { ...store.messages, list } }),
    });
    const begun = Array.from({ length: 8 }, () => api.get("/v1/sms/messages"));
    await until(() => release.length === 8, Boolean, { pauseMs: 1 });
    const timers = api.clock.pending();
    const waiting = api.get("/v1/sms/messages");
    await until(() => api.clock.pending() > timers, Boolean, { pauseMs: 1 });
    await api.clock.advance(5_000);
    const { status, headers } = await waiting;
    expect(status).toBe(503);
    expect(headers.get("retry-after")).toMatch(/^\d+$/);
    for (const end of release) end();
    expect((await Promise.all(begun)).map((answer) => answer.status)).toEqual(Array(8).fill(200));
  });
});

async function sendSms(api: RunningApi, to: readonly string[], over: object = {}): Promise<string[]> {
  const { json } = await api.post("/v1/sms/messages", sms({ to, ...over }));
  return json.messages.map((message: { message_id: string }) => message.message_id);
}

function idsOf(page: { data: { message_id: string }[] }): readonly string[] {
  return page.data.map((message) => message.message_id);
}
