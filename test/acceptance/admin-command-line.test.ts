import { beforeAll, describe, expect, test } from "bun:test";
import { reached, send } from "../admin.ts";
import { testTls } from "../fakes/test-tls.ts";
import { typeBesideService } from "./typed-commands.ts";

const NOBODY = "01890000-0000-7000-8000-000000000000";

const { spawned, run, text, json, service } = typeBesideService();
let account: string;

beforeAll(async () => {
  account = (await json("accounts", "create", "--name", "Acme", "--mode", "live")).account_id;
});

test("settings get lists all with default and meaning, set and get speak of one", async () => {
  const strict = "idempotency = strict (set for the account; default: replay)\n";
  const of = ["--account", account];
  expect(await text("settings", "get")).toMatch(/^idempotency = replay \(default\)\n {4}Same Idempotency/m);
  expect(await text("settings", "set", ...of, "idempotency", "strict")).toBe(strict);
  expect(await text("settings", "get", ...of)).toContain(strict);
  expect(await text("settings", "get")).toContain("\npublic_url is not set\n");
  expect(await text("settings", "get", "--account", account, "idempotency")).toBe("strict\n");
  expect(await text("settings", "get", "idempotency")).toBe("replay\n");
  expect(await json("settings", "get", "idempotency")).toMatchObject({
    name: "idempotency",
    value: "replay",
  });
  expect(await text("settings", "set", "idempotency", "--account", account)).toBe(
    "idempotency = replay (default)\n",
  );
  expect(await run(["settings", "set", "idempotency", "maybe"])).toMatchObject({
    code: 1,
    err: "error: validation failed\n  idempotency: must be one of replay, strict\n",
  });
});

test("a setting that is not set is an empty line to scripts, and an unknown one is told with the way to the known", async () => {
  expect(await text("settings", "get", "public_url")).toBe("\n");
  expect(await run(["settings", "get", "colour"])).toMatchObject({
    code: 1,
    err: "error: there is no colour among the settings: `settings get` shows what there is\n",
  });
  expect((await run(["keys", "show", ""])).err).toBe(
    "error: the id is empty: `keys list` shows what there is\n",
  );
  expect((await run(["settings", "get", ""])).err).toStartWith("error: the name is empty: `settings get`");
  expect((await run(["messages", "timeline", ""])).err).toBe(
    "error: the id is empty: it is the `message_id` that the request was answered with\n",
  );
});

test("a certificate, which begins with dashes, is the value of a setting; what is no value of it is told", async () => {
  expect(await text("settings", "set", "webhook_ca", testTls.ca)).toStartWith("webhook_ca = -----BEGIN");
  expect(await text("settings", "get", "webhook_ca")).toBe(`${testTls.ca.trim()}\n`);
  // In the list of all only its beginning: nobody reads on through thousands of characters.
  const listed = (await text("settings", "get")).split("\n").find((line) => line.startsWith("webhook_ca"));
  expect(listed).toMatch(/^webhook_ca = -----BEGIN CERTIFICATE-----⏎.{170,180}… \(set for the instance\)$/);
  expect((await run(["settings", "set", "webhook_ca", "--acount", "a"])).err).toBe(
    "error: unknown option '--acount'\n",
  );
  expect(await run(["settings", "set", "stop_words", "STOP", "END"])).toMatchObject({
    code: 2,
    err: "error: one name and one value; quote a value that has blanks\n",
  });
  await text("settings", "set", "webhook_ca");
});

test("webhooks list says that it wants an account or a message", async () => {
  expect(await run(["webhooks", "list"])).toMatchObject({
    code: 2,
    err: "error: name an account with --account, or a message with --message\n",
  });
});

test("webhooks replay takes a webhook-id or a choice of an account's, and says so where both are given", async () => {
  for (const more of [["--account", NOBODY], ["--failed"], ["--since", "2026-11-22T00:00:00Z"]]) {
    const { code, err } = await run(["webhooks", "replay", "evt_1", ...more]);
    expect([code, err]).toEqual([2, expect.stringContaining("not both")]);
  }
});

test("webhooks secret prints the secrets, and --rotate puts a new one first", async () => {
  const [first] = (await text("webhooks", "secret", "--account", account)).split("\n");
  expect(first).toStartWith("whsec_");
  const rotated = (await text("webhooks", "secret", "--account", account, "--rotate")).split("\n");
  expect(rotated[1]).toBe(first as string);
  expect((await json("webhooks", "secret", "--account", account)).secrets).toHaveLength(2);
});

test("sandbox messages and messages timeline show what became of a message", async () => {
  const { account_id: sandbox, api_key: apiKey } = service().sandbox;
  const { body } = await send(service(), {
    apiKey,
    path: "/v1/emails/messages",
    body: {
      from: { email: "a@example.com" },
      to: [{ email: "b@example.org" }],
      subject: "Hello",
      body_text: "x",
    },
  });
  const id = String(body.message_id);
  await reached(service(), { apiKey, path: `/v1/emails/messages/${id}` }, "delivered");
  const listed = await text("sandbox", "messages", "--account", sandbox, "--message", id);
  expect(listed).toMatch(new RegExp(`${id} +b@example\\.org .*Hello$`, "m"));
  const { data } = await json(
    "sandbox",
    "messages",
    "--to",
    "b@example.org",
    "--channel",
    "email",
    "--limit",
    "5",
  );
  expect(data).toMatchObject([{ message_id: id, subject: "Hello", body_text: "x" }]);
  const shown = await text("messages", "timeline", id);
  expect(shown).toContain("delivered");
  expect(shown.split("\n")[1]).toMatch(new RegExp(`^${body.created_at} +accepted `));
  expect(await text("messages", "timeline", id, "--account", sandbox, "--channel", "email")).toBe(shown);
  const other = await run(["messages", "timeline", id, "--channel", "sms"]);
  expect([other.code, other.err]).toEqual([1, expect.stringContaining(`there is no message ${id}: `)]);
});

test("messages timeline shows an error's code, by which the documentation lists what to do", async () => {
  const { api_key: apiKey } = service().sandbox;
  const { body } = await send(service(), {
    apiKey,
    path: "/v1/sms/messages",
    body: { to: "+15005550002", dlt_template_id: "1107160000000000001", variables: { "1": "1" } },
  });
  const id = String(body.message_id);
  await reached(service(), { apiKey, path: `/v1/sms/messages/${id}` }, "failed");
  expect(await text("messages", "timeline", id)).toContain("  smpp.0x0000000b: ESME_RINVDSTADR");
});

describe("what is not understood ends with code 2", () => {
  test.each([
    [["accounts"], "create"],
    [["accounts", "destroy"], "unknown command 'destroy'"],
    [["accounts", "create", "--mode", "live"], "--name"],
    [["accounts", "create", "--name", "x", "--mode", "live", "--colour", "red"], "--colour"],
    [["accounts", "show"], "missing required argument"],
    [["messages", "timeline", NOBODY, "--account", NOBODY, "--channel", "pigeon"], "sms, email"],
    [["suppressions", "export", "--account", NOBODY, "--format", "xml"], "csv, jsonl"],
  ])("%p", async (args, reason) => {
    for (const ran of [await run(args), await spawned(args)]) {
      expect(ran.code).toBe(2);
      expect(ran.err).toContain(reason);
    }
  });

  test.each([
    [[], "Commands:"],
    [["nouns"], "unknown command 'nouns'"],
    [["--colour"], "--colour"],
    [["serve", "--colour"], "--colour"],
    [["backup"], "--to"],
  ])("of the program itself: %p", async (args, reason) => {
    const ran = await spawned(args);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(ran.err).toContain(reason);
  });

  test("what is not understood is told with the way to what is", async () => {
    for (const args of [["nouns"], ["serve", "--colour"], ["accounts", "destroy"]])
      expect((await spawned(args)).err).toEndWith("\nAdd --help to see the commands and options.\n");
  });

  test("help is no failure, and says first what belongs to the command, and what has to be given", async () => {
    const { code, out } = await spawned(["keys", "create", "--help"]);
    expect(code).toBe(0);
    const options = out.slice(out.indexOf("Options:")).match(/--[a-z]+/g);
    expect(options).toEqual(["--account", "--name", "--json", "--url", "--token", "--help"]);
    expect(out).toMatch(/--account <id> +the account \(required\)$/m);
    expect(out).toMatch(/--name <name> +a name for people$/m);
    const { out: ofRoutes } = await spawned(["routes", "create", "--help"]);
    expect(ofRoutes.replaceAll(/\s+/g, " ")).toContain("share the messages (repeatable) (required)");
    expect((await spawned(["backup", "--help"])).out).not.toContain("default: false");
  });
});

test("what the server refuses ends with code 1, one field a line", async () => {
  const { code, out, err } = await spawned(["keys", "create", "--account", NOBODY]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toBe("error: validation failed\n  --account: no such account\n");
});

test("nothing that is shown can drive a terminal", async () => {
  const { account_id: id } = await json("accounts", "create", "--name", "evil\u001b[2J", "--mode", "live");
  expect(await text("accounts", "show", id)).not.toContain("\u001b");
});
