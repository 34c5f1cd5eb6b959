import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { admin } from "../admin.ts";
import { BEHAVIOURS } from "../fakes/fake-webhook-receiver.ts";
import { startWebhookRig, type WebhookRig } from "../webhook-rig.ts";
import { type TypedCommands, typeInto } from "./typed-commands.ts";

let rig: WebhookRig;
let commands: TypedCommands;
let account: string;

beforeAll(async () => {
  rig = await startWebhookRig();
  commands = typeInto(rig.service.dataFolder);
  account = rig.service.sandbox.account_id;
});
afterAll(() => rig.stop());
beforeEach(() => rig.receiver.behave(BEHAVIOURS.ok));

const DELIVERED = ["delivered", "delivered"];

test("a message's events are listed, each with its deliveries: when, how long, and what was answered", async () => {
  rig.receiver.behave(BEHAVIOURS.error);
  const id = await rig.sms();
  await rig.until(id, ["waiting", "held"]);
  rig.receiver.behave(BEHAVIOURS.ok);
  await rig.until(id, DELIVERED);
  const table = (await commands.text("webhooks", "list", "--message", id)).split("\n");
  expect(table[0]).toMatch(/WEBHOOK-ID +TYPE +HOST +STATE/);
  expect(table[1]).toContain(`evt_${id}_1  sms.sent       hooks.test:${rig.receiver.port}  delivered`);
  const { data } = await commands.json("webhooks", "attempts", `evt_${id}_1`);
  expect(data).toMatchObject([
    { status: 500, answer: "out of order" },
    { status: 200, answer: "ok" },
  ]);
  expect(data[0].latency_ms).toBeNumber();
  expect(await commands.text("webhooks", "attempts", `evt_${id}_1`)).toContain("out of order");
});

test("one event is shown with its deliveries below it, and a list says how the last one ended", async () => {
  rig.receiver.behave(BEHAVIOURS.error);
  const id = await rig.sms();
  await rig.until(id, ["waiting", "held"]);
  const waiting = (await commands.text("webhooks", "list", "--message", id)).split("\n");
  expect(waiting[0]).toEndWith("LAST RESULT");
  expect(waiting[1]).toEndWith("  500");
  expect(waiting[2]).toEndWith("  -");
  rig.receiver.behave(BEHAVIOURS.ok);
  await rig.until(id, DELIVERED);
  const shown = await commands.text("webhooks", "show", `evt_${id}_1`);
  expect(shown).toMatch(/^state +delivered$/m);
  expect(shown).toMatch(/^message_id +[0-9a-f-]{36}$/m);
  expect(shown).not.toContain("last_attempt");
  expect(shown).toMatch(/\n\nAT +MS +STATUS +ERROR +ANSWER\n.* 500 .*out of order\n.* 200 .*ok\n$/);
  const { last_attempts } = await commands.json("webhooks", "show", `evt_${id}_1`);
  expect(last_attempts).toMatchObject([{ status: 500 }, { status: 200, answer: "ok" }]);
  const unknown = await commands.run(["webhooks", "show", "evt_x"], {
    POSTRIDER_DATA: rig.service.dataFolder,
  });
  expect([unknown.code, unknown.err]).toEqual([
    1,
    expect.stringContaining("there is no evt_x among the webhooks"),
  ]);
});

test("a delivery without an answer is shown with the code of its error, by which the documentation lists them", async () => {
  rig.receiver.behave(BEHAVIOURS.close);
  const id = await rig.sms();
  await rig.until(id, ["waiting", "held"]);
  rig.receiver.behave(BEHAVIOURS.ok);
  await rig.until(id, DELIVERED);
  expect(await commands.text("webhooks", "attempts", `evt_${id}_1`)).toContain("  closed: the connection");
});

test("one event is replayed by its webhook-id, with the same id and body and a new signature", async () => {
  const id = await rig.sms();
  await rig.until(id, DELIVERED);
  const before = rig.receiver.deliveries.length;
  expect(await commands.text("webhooks", "replay", `evt_${id}_1`)).toBe("1 queued for delivery again\n");
  await rig.until(id, DELIVERED);
  const [again, ...others] = rig.receiver.deliveries.slice(before);
  expect(others).toEqual([]);
  const first = rig.receiver.deliveries.find(({ headers }) => headers["webhook-id"] === `evt_${id}_1`);
  expect(again).toMatchObject({ body: first!.body, problem: undefined });
  expect(again?.headers["webhook-id"]).toBe(`evt_${id}_1`);
});

test("a time whose + is not escaped is the one that was meant, in every list", async () => {
  const until = "2020-01-01T00:00:00+05:30";
  const path = `/webhooks?account_id=${account}&until=${until}&since=${until}`;
  expect(await admin(rig.service, path)).toEqual({ data: [] });
  const headers = { Authorization: `Bearer ${rig.service.sandbox.api_key}` };
  for (const query of [`sms/messages?created_before=${until}`, `sms/inbound?before=${until}`]) {
    const answer = await fetch(`${rig.service.url}/v1/${query}`, { headers });
    expect([query, answer.status]).toEqual([query, 200]);
  }
});

test("what is asked for besides the message holds too: state, host, account, time", async () => {
  const id = await rig.sms();
  await rig.until(id, DELIVERED);
  const count = async (...more: string[]) =>
    (await commands.json("webhooks", "list", "--message", id, ...more)).data.length;
  const other = (await commands.json("accounts", "create", "--name", "Other", "--mode", "live")).account_id;
  expect(await count("--state", "delivered", "--account", account)).toBe(2);
  expect(await count("--state", "failed")).toBe(0);
  expect(await count("--host", "elsewhere.test")).toBe(0);
  expect(await count("--account", other)).toBe(0);
  expect(await count("--until", "2020-01-01T00:00:00Z")).toBe(0);
  const { code, err } = await commands.run(["webhooks", "list", "--message", id, "--state", "lost"]);
  expect([code, err]).toEqual([1, expect.stringContaining("state: must be one of held")]);
});

test("a host may be named as operators copy it, also with its URL, and what is none is called so", async () => {
  const id = await rig.sms();
  await rig.until(id, DELIVERED);
  const { port } = rig.receiver;
  const list = ["webhooks", "list", "--message", id, "--host"];
  for (const host of [
    `hooks.test:${port}`,
    `HOOKS.test:${port}`,
    rig.receiver.url(),
    `https://hooks.test:${port}`,
  ])
    expect([host, (await commands.json(...list, host)).data.length]).toEqual([host, 2]);
  expect((await commands.json(...list, "https://hooks.test/")).data).toEqual([]);
  expect((await commands.run([...list, "https://"])).err).toContain("host: must be a host such as");
  const replay = ["webhooks", "replay", "--account", account, "--host"];
  expect(await commands.text(...replay, rig.receiver.url())).toMatch(/^[1-9]\d* queued for delivery again/);
  expect((await commands.run([...replay, "not a host"])).err).toContain("host: must be a host such as");
  await rig.until(id, DELIVERED);
});

test("a rotation upon a secret that is no longer the newest is refused, and the one in use stays", async () => {
  const other = (await commands.json("accounts", "create", "--name", "Rotates", "--mode", "live")).account_id;
  const shown = (query = "") =>
    admin<{ secrets: { created_at: string }[] }>(
      rig.service,
      `/webhooks/secret${query.includes("newest") ? "/rotate" : ""}?account_id=${other}${query}`,
      query === "" ? undefined : {},
    );
  const before = await shown();
  await rig.service.pass(1_000);
  const newest = `&newest=${before.secrets[0]?.created_at}`;
  const after = await shown(newest);
  expect(after.secrets.slice(1)).toEqual(before.secrets.slice(0, 1));
  const refused = await shown(newest).then(String, String);
  expect(refused).toContain("409");
  expect(refused).toContain("another rotation has made a secret in between");
  expect(await shown()).toEqual(after);
});

test("without the newest secret's time a rotation is refused for a minute after another, and the one in use stays", async () => {
  const other = (await commands.json("accounts", "create", "--name", "Twice", "--mode", "live")).account_id;
  const typed = ["webhooks", "secret", "--account", other];
  const shown = async (): Promise<{ created_at: string }[]> => (await commands.json(...typed)).secrets;
  const [first] = await shown();
  expect((await commands.text(...typed, "--rotate")).split("\n")).toHaveLength(3);
  const [second] = await shown();
  await rig.service.pass(59_000);
  const refused = await commands.run([...typed, "--rotate"]);
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(
      new RegExp(`newest: the newest secret is only 59 s old: .* name it here: ${second?.created_at}\n`),
    ),
  ]);
  expect(await shown()).toEqual([second!, first!]);

  await commands.text(...typed, "--rotate", "--newest", second!.created_at);
  const [third, ...before] = await shown();
  expect(before).toEqual([second!]);
  await rig.service.pass(60_000);
  await commands.text(...typed, "--rotate");
  expect((await shown())[1]).toEqual(third!);
  expect((await commands.run([...typed, "--newest", third!.created_at])).err).toContain("goes with --rotate");
});

test("a clock that is set back after a rotation does not stand in the way of the next", async () => {
  const other = (await commands.json("accounts", "create", "--name", "Set back", "--mode", "live"))
    .account_id;
  const typed = ["webhooks", "secret", "--account", other];
  await commands.text(...typed, "--rotate");
  const [second] = (await commands.json(...typed)).secrets;
  rig.service.leap(-59_000);
  expect((await commands.run([...typed, "--rotate"])).err).toContain("the newest secret is only 0 s old");
  rig.service.leap(-1_000);
  await commands.text(...typed, "--rotate");
  const [third, ...before] = (await commands.json(...typed)).secrets;
  expect(before).toEqual([second]);
  expect(Date.parse(third.created_at)).toBeLessThan(Date.parse(second.created_at));
  rig.service.leap(60_000);
});

test("a range of time is replayed, delivered events too, and nothing outside of it", async () => {
  await rig.service.pass(5_000);
  const since = new Date(rig.service.now()).toISOString();
  const inside = await rig.sms();
  await rig.until(inside, DELIVERED);
  await rig.service.pass(5_000);
  const until = new Date(rig.service.now()).toISOString();
  const outside = await rig.sms();
  await rig.until(outside, DELIVERED);
  const before = rig.receiver.deliveries.length;
  const range = ["--account", account, "--since", since, "--until", until];
  const listed = await commands.json("webhooks", "list", ...range);
  expect(listed.data.map((event: { id: string }) => event.id)).toEqual([
    `evt_${inside}_1`,
    `evt_${inside}_2`,
  ]);
  const newest = await commands.text("webhooks", "list", ...range, "--order", "newest", "--limit", "1");
  expect(newest).toContain(`evt_${inside}_2`);
  const [, after = ""] = /more: --after (\S+)\n$/.exec(newest) ?? [];
  const rest = await commands.json("webhooks", "list", ...range, "--order", "newest", "--after", after);
  expect(rest.data).toMatchObject([{ id: `evt_${inside}_1` }]);
  expect(await commands.json("webhooks", "replay", ...range)).toEqual({ replayed: 2 });
  await rig.until(inside, DELIVERED);
  const again = rig.receiver.deliveries.slice(before).map(({ headers }) => headers["webhook-id"]);
  expect(again).toEqual([`evt_${inside}_1`, `evt_${inside}_2`]);
});

test("all failed of a host are replayed, and no others", async () => {
  const gone = await rig.addReceiver();
  gone.behave(BEHAVIOURS.gone);
  const id = await rig.sms(gone.url());
  await rig.until(id, ["failed", "failed"]);
  gone.behave(BEHAVIOURS.ok);
  const host = `hooks.test:${gone.port}`;
  const failed = await commands.json("webhooks", "list", "--account", account, "--state", "failed");
  expect(failed.data).toMatchObject([{ host }, { host }]);
  expect(await commands.json("webhooks", "replay", "--account", account, "--host", host, "--failed")).toEqual(
    {
      replayed: 2,
    },
  );
  await rig.until(id, DELIVERED);
});

test("a replay that is to go on from nowhere does not begin again", async () => {
  const id = await rig.sms();
  await rig.until(id, DELIVERED);
  const before = rig.receiver.deliveries.length;
  const body = { account_id: account, since: "2020-01-01T00:00:00Z", after: "zzz" };
  await expect(admin(rig.service, "/webhooks/replay", body)).rejects.toThrow(
    '400 {"code":400,"message":"validation failed","details":{"after":"must be the `next` of an earlier page"}}',
  );
  expect(await commands.json("webhooks", "attempts", `evt_${id}_1`)).toMatchObject({
    data: [{ status: 200 }],
  });
  expect(rig.receiver.deliveries.length).toBe(before);
});

test.each<[string, string, unknown, object]>([
  ["GET", "/webhooks", undefined, { account_id: "required" }],
  ["GET", "/webhooks?message_id=x", undefined, { message_id: "must be a UUID" }],
  [
    "POST",
    "/webhooks/replay",
    {},
    { account_id: "required", host: "required if there is no since or until" },
  ],
  ["POST", "/webhooks/test", { url: "http://x.test/" }, { account_id: "required", url: expect.any(String) }],
])("%s %s says what is wrong", async (method, path, body, details) => {
  const error = await admin(rig.service, path, body, method).then(String, String);
  expect(error).toContain("400");
  const answer = JSON.parse(error.slice(error.indexOf("{")));
  expect(answer.details).toMatchObject(details);
});

test("events that do not exist are 404", async () => {
  for (const id of ["evt_x", `evt_${rig.service.sandbox.account_id}_1`]) {
    for (const [method, verb] of [
      ["GET", "attempts"],
      ["POST", "replay"],
    ] as const) {
      const error = await admin(rig.service, `/webhooks/${id}/${verb}`, undefined, method).catch(String);
      expect(error).toContain("404");
    }
  }
});

test("no host is paused, and the list says so", async () => {
  expect(await commands.text("webhooks", "hosts")).toBe("none\n");
});
