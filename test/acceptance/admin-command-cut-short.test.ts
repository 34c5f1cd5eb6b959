/** The service goes away, or is in trouble, while a command is at work: what is done, and what to do. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const folder = makeDataFolder();
const { run } = typeInto(folder.path);
afterAll(folder.remove);

/** Takes one request well, and answers the others with an error. */
function serveOnce(first: object, status: number, body: object) {
  let requests = 0;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () =>
      requests++ === 0
        ? Response.json(first)
        : Response.json(body, { status, headers: { "X-Request-Id": "r-7" } }),
  });
  const at = ["--url", `http://127.0.0.1:${server.port}`, "--token", "t"];
  return { at, [Symbol.dispose]: () => void server.stop(true) };
}

const AWAY = { code: 503, message: "service unavailable" };
const addresses = join(folder.path, "addresses.csv");
const headers = join(folder.path, "headers.csv");

beforeAll(() => {
  writeFileSync(
    addresses,
    Array.from({ length: 2_500 }, (_, index) => `user${index}@example.net`).join("\n"),
  );
  writeFileSync(headers, "Header\nACME\n");
});

test("an import that is cut short says how many entries are done, and that it can be run again", async () => {
  using server = serveOnce({ added: 1_000, kept: 0, refused: [] }, 503, AWAY);
  const { code, out, err } = await run([
    "suppressions",
    "import",
    "--account",
    "a",
    "--file",
    addresses,
    ...server.at,
  ]);
  expect([code, out, err.split("\n")]).toEqual([
    1,
    "",
    [
      "cut short: the first 1000 of 2500 entries are done; run it again for the others",
      "error: service unavailable: try again in a moment; if it stays so, the service's log says why",
      "",
    ],
  ]);
});

test("an import from a DLT portal that is cut short says how many headers are done, but for a dry run, which did nothing", async () => {
  const first = {
    kind: "headers",
    dry_run: false,
    rows: 700,
    created: 500,
    updated: 0,
    unchanged: 0,
    merged: 0,
  };
  const part = { ...first, refused: [], ignored_columns: [], done: 500, total: 700, next: 500 };
  for (const more of [[], ["--dry-run"]]) {
    using server = serveOnce(part, 503, AWAY);
    const { code, err } = await run([
      "dlt",
      "import",
      "--account",
      "a",
      "--file",
      headers,
      ...more,
      ...server.at,
    ]);
    const told = "cut short: 500 of 700 headers are done; run it again for the others\n";
    expect([code, err]).toEqual([
      1,
      `500 of 700 headers\n${more.length === 0 ? told : ""}error: service unavailable: try again in a moment; if it stays so, the service's log says why\n`,
    ]);
  }
});

test("an error of the service is given with the id under which its log has the cause", async () => {
  using server = serveOnce({ data: [] }, 500, { code: 500, message: "internal error" });
  await run(["accounts", "list", ...server.at]);
  expect((await run(["accounts", "list", ...server.at])).err).toBe(
    "error: internal error: the service's log says why, under the request id r-7\n",
  );
});

test("an id that is no webhook's is answered with the command that lists them", async () => {
  using server = serveOnce({}, 404, { code: 404, message: "not found" });
  await run(["accounts", "list", ...server.at]);
  const { err } = await run(["webhooks", "attempts", "01a22125-6088-7483-9b4f-9f05fa5e5620", ...server.at]);
  expect(err).toBe(
    "error: there is no 01a22125-6088-7483-9b4f-9f05fa5e5620 among the webhooks: `webhooks list --account ACCOUNT` shows what there is\n",
  );
});

test("a replay that is cut short says how many events are on their way", async () => {
  using server = serveOnce({ replayed: 10_000, next: "cursor" }, 503, AWAY);
  const { code, err } = await run(["webhooks", "replay", "--account", "a", "--host", "x.test", ...server.at]);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining("; before that 10000 were queued for delivery again\n"),
  ]);
});
