/** What the server refuses, as whoever typed the command sees it: by the options, not by the fields of the API. */
import { beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { typeBesideService } from "./typed-commands.ts";

const { run, spawned, json, text, dataFolder } = typeBesideService();
const NOBODY = "01a1ef4a-28c6-72c1-b0a9-56b5a9bd1a1a";
let account: string;

beforeAll(async () => {
  account = (await json("accounts", "create", "--name", "Acme", "--mode", "live")).account_id;
});

/** The lines below `error: validation failed`. */
async function refusedBy(...args: readonly string[]): Promise<readonly string[]> {
  const { code, err } = await run(args);
  const [head, ...lines] = err.trimEnd().split("\n");
  expect([code, head]).toEqual([1, "error: validation failed"]);
  return lines.map((line) => line.trim());
}

test("a refused field is named as the option that sets it", async () => {
  const of = ["--account", NOBODY];
  const entity = ["--dlt-entity-id", "1"];
  expect(
    await refusedBy("senders", "create", "--account", account, "--sender-id", "A".repeat(17), ...entity),
  ).toEqual([
    "--sender-id: must be at most 16 characters",
    "--dlt-entity-id: must be a DLT id of 8 to 30 digits",
  ]);
  expect(await refusedBy("senders", "create", ...of, "--sender-id", "A")).toEqual([
    "--account: no such account",
  ]);
  expect(
    await refusedBy("inbound-numbers", "create", "--account", account, "--number", "1", "--connector", "x"),
  ) //
    .toEqual(["--connector: no such connector"]);
  expect(await refusedBy("inbound-numbers", "list", "--connector", "airtel")).toEqual([
    "--connector: no such connector",
  ]);
  expect(await refusedBy("accounts", "list", "--mode", "Live")).toEqual([
    "--mode: must be one of sandbox, live",
  ]);
  expect(await refusedBy("webhooks", "list", "--message", "x")).toEqual(["--message: must be a UUID"]);
  expect(await refusedBy("webhooks", "test", "--account", account, "--to", "http://x.test")).toEqual([
    "--to: must start with https://",
  ]);
  expect(await refusedBy("webhooks", "secret", ...of)).toEqual(["--account: no such account"]);
  expect(await refusedBy("settings", "get", "idempotency", ...of)).toEqual(["--account: no such account"]);
  expect(await refusedBy("keys", "list", "--limit", "0")).toEqual([
    "--limit: must be a whole number from 1 to 1000",
  ]);
});

test("of an option that is to be JSON it is said where it stops being that, and what would be right there", async () => {
  const { code, err } = await run(["connectors", "create", "--kind", "smpp", "--config", '{\n"port":2775,}']);
  expect([code, err.split("\n")[0]]).toEqual([
    2,
    'error: --config needs a JSON object; line 2, column 13: expected a name in double quotes, not "}"',
  ]);
});

test("whoever gives no cursor, or asks for help, is told where a page shows it", async () => {
  const place = "the cursor in its last line, `more: --after …` (with --json: `next`)";
  for (const noun of ["keys", "inbound", "webhooks"]) {
    const of = noun === "webhooks" ? ["--account", account] : [];
    expect(await refusedBy(noun, "list", ...of, "--after", "x")).toEqual([
      `--after: must be of an earlier page: ${place}`,
    ]);
    const { out } = await run([noun, "list", "--help"]);
    expect(out.replaceAll(/\s+/g, " ")).toContain(`--after <cursor> continue after a page: ${place}`);
  }
});

test("an entry of a list is named by its place among those that were typed", async () => {
  const platforms = ["--platform", "fcm", "--platform", "fax"];
  expect(await refusedBy("push-apps", "create", "--account", account, "--name", "A", ...platforms)).toEqual([
    "--platform: 1 of 2 entries is invalid",
    "--platform, value 2: must be one of apns, fcm, web",
  ]);
  expect(await refusedBy("routes", "create", "--channel", "sms", "--connector", `${NOBODY}=3`)).toEqual([
    "--connector: 1 of 1 entries is invalid",
    "--connector, value 1: no such connector",
  ]);
});

test("the fields of a connector's kind are options, those that it does not have too", async () => {
  const create = ["connectors", "create", "--kind", "smpp", "--port", "x", "--sistem-id", "acme"];
  expect(await refusedBy(...create)).toEqual([
    "--host: required",
    "--port: must be an integer",
    "--system-id: required",
    "--sistem-id: unknown; did you mean --system-id?",
  ]);
  const [unknown] = await refusedBy(
    ...create.slice(0, 4),
    "--host",
    "h",
    "--system-id",
    "s",
    "--colour",
    "red",
  );
  expect(unknown).toStartWith("--colour: unknown; known are --host, --port, --system-id, ");
});

test("what no option sets keeps its name", async () => {
  const set = await refusedBy("settings", "set", "daily_message_limit", "many");
  expect(set).toEqual([expect.stringMatching(/^daily_message_limit: must be an integer/)]);
  await text("senders", "create", "--account", account, "--sender-id", "ACME");
  const { code, err } = await run(["accounts", "delete", account]);
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/^error: conflict\n {2}id: the account is in use by /),
  ]);
});

test("a file that is refused is named by its option", async () => {
  const file = join(dataFolder, "sandbox.json");
  const [line] = await refusedBy("dlt", "import", "--account", account, "--file", file);
  expect(line).toStartWith("--file: ");
});

const NOT_FOUND = { code: 404, message: "not found" };

test("a server that knows no such path may be a process without the role api", async () => {
  const worker = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json(NOT_FOUND, { status: 404 }),
  });
  const at = ["--url", `http://127.0.0.1:${worker.port}`];
  const listed = await run(["accounts", "list", ...at]);
  const listened = await spawned([
    "listen",
    ...at,
    "--api-key",
    "pr_live_x",
    "--forward-to",
    "http://127.0.0.1:1/",
  ]);
  await worker.stop(true);
  for (const { code, err } of [listed, listened])
    expect([code, err]).toEqual([1, expect.stringContaining("with the role api?")]);
});

test("webhooks replay of an account wants to know which of its events", async () => {
  for (const more of [[], ["--failed"]]) {
    const { code, err } = await run(["webhooks", "replay", "--account", account, ...more]);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^error: which of its events\? name a host with --host/),
    ]);
  }
  for (const more of [
    ["--host", "x.test"],
    ["--since", "2026-11-22T00:00:00Z"],
  ])
    expect(await text("webhooks", "replay", "--account", account, ...more)).toBe(
      "0 queued for delivery again\n",
    );
});

test("what is wrong inside a value is said with its place there, and with what would be right", async () => {
  const refused = await refusedBy(
    ...["connectors", "create", "--kind", "smpp", "--host", "127.0.0.1", "--system-id", "acme"],
    ...["--dlt-codes", '{"5308":"scrubbed"}', "--receipts-with", "airtel", "--max-per-second", "0"],
    ...['--status-classes={"0x00000401":"never"}', "--inbound-country-code", "+1"],
  );
  expect(refused.toSorted()).toEqual([
    "--dlt-codes, 5308: must look like 633",
    "--inbound-country-code: must look like 1 or 44",
    "--max-per-second: must be more than 0",
    "--receipts-with, value 1: must look like 01a1fe47-d900-7336-aaba-2350b1b7f3a7",
    "--receipts-with: 1 of 1 entries is invalid",
    "--status-classes, 0x00000401: must be one of throttled, full, transient, session, framing, permanent",
  ]);
});
