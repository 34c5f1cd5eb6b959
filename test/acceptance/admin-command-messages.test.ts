import { beforeAll, expect, test } from "bun:test";
import { until } from "../until.ts";
import { typeBesideService } from "./typed-commands.ts";

const { run, text, json, service } = typeBesideService();
let ids: readonly string[];

beforeAll(async () => {
  const { url, sandbox } = service();
  const send = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${sandbox.api_key}`, "Content-Type": "application/json" };
    const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
    expect(answer.status).toBe(202);
    return ((await answer.json()) as { message_id: string }).message_id;
  };
  const to = [{ email: "ann@example.net" }, { email: "bob@example.net", name: "Bob" }];
  const mail = { from: { email: "hello@example.com" }, to, subject: "Hello", body_text: "Hello." };
  const sms = { to: "+919876543210", from: "ACME", dlt_template_id: "1107160000000000001", tags: ["otp"] };
  ids = [await send("/v1/sms/messages", sms), await send("/v1/emails/messages", mail)];
});

const rowsOf = (table: string) =>
  table
    .trimEnd()
    .split("\n")
    .map((row) => row.split(/\s{2,}/));

test("messages list shows an account's messages of a channel, and filters them", async () => {
  const { account_id: account } = service().sandbox;
  const list = (...more: string[]) => text("messages", "list", "--account", account, "--channel", ...more);
  const [head, sms] = rowsOf(await list("sms"));
  expect(head).toEqual(["ID", "STATUS", "TO", "FROM", "CREATED", "ERROR"]);
  expect(sms).toMatchObject([ids[0], expect.any(String), "+919876543210", "ACME", expect.any(String), "-"]);
  const [, email] = rowsOf(await list("email"));
  expect(email).toMatchObject({ 0: ids[1], 2: "ann@example.net, bob@example.net", 3: "hello@example.com" });
  expect(await list("sms", "--to", "+919876543210", "--tag", "otp")).toContain(ids[0] ?? "");
  expect(await list("sms", "--tag", "promo")).not.toContain(ids[0] ?? "");
  const refused = await run([
    "messages",
    "list",
    "--account",
    account,
    "--channel",
    "sms",
    "--status",
    "gone",
  ]);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("--status: must be one of queued, ");
});

test("messages show finds a message of any account and channel", async () => {
  expect(await json("messages", "show", ids[0] ?? "")).toMatchObject({ channel: "sms", from: "ACME" });
  expect(await text("messages", "show", ids[1] ?? "")).toContain("ann@example.net");
});

test("sandbox messages begins with the newest if asked to, and says which orders there are", async () => {
  const all = await until(
    () => json("sandbox", "messages"),
    ({ data }) => data.length === 3,
  );
  const newest = await json("sandbox", "messages", "--order", "newest", "--limit", "2");
  expect(newest.data).toEqual(all.data.toReversed().slice(0, 2));
  const rest = await json("sandbox", "messages", "--order", "newest", "--after", newest.next);
  expect(rest.data).toEqual([all.data[0]]);
  const unclear = await run(["sandbox", "messages", "--order", "latest"]);
  expect([unclear.code, unclear.err]).toEqual([
    1,
    expect.stringContaining("--order: must be one of oldest, newest"),
  ]);
});

test("queues list shows what waits", async () => {
  expect(await json("queues", "list")).toEqual({ data: expect.any(Array) });
});

test("console password makes a new one, which signs in", async () => {
  const [password = "", advice] = (await text("console", "password")).split("\n");
  expect(advice).toBe("Keep it now: it is not stored, and never shown again.");
  const signIn = await fetch(`${service().url}/admin/v1/session`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ password }),
  });
  expect(signIn.status).toBe(200);
});

test("console sign-out says what it has done", async () => {
  expect(await text("console", "sign-out")).toBe("everybody is signed out within a second\n");
});
