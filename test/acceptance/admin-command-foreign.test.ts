/** At the address is a service that is not Postrider, and it speaks JSON too. */
import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const folder = makeDataFolder();
const { run } = typeInto(folder.path);
afterAll(folder.remove);

const list = join(folder.path, "list.csv");
mkdirSync(folder.path, { recursive: true });
writeFileSync(list, "email\na@b.test\n");

const of = ["--account", "1"];
const commands = [
  ["accounts", "create", "--name", "x", "--mode", "live"],
  ["accounts", "show", "1"],
  ["accounts", "delete", "1"],
  ["keys", "revoke", "1"],
  ["domains", "show", "1"],
  ["domains", "verify", "1"],
  ["domains", "rotate-dkim", "1"],
  ["connectors", "kinds"],
  ["connectors", "test", "1"],
  ["settings", "get"],
  ["settings", "get", "webhook_ca"],
  ["settings", "set", "webhook_ca"],
  ["webhooks", "secret", ...of],
  ["webhooks", "secret", "--rotate", ...of],
  ["webhooks", "test", "--to", "https://x.test/", ...of],
  ["webhooks", "replay", "1"],
  ["webhooks", "replay", "--host", "x.test", ...of],
  ["webhooks", "attempts", "1"],
  ["webhooks", "hosts"],
  ["suppressions", "export", ...of],
  ["suppressions", "release", "--email", "a@b.test", ...of],
  ["suppressions", "import", "--file", list, ...of],
  ["dlt", "import", "--file", list, ...of],
  ["messages", "timeline", "1"],
  ["sandbox", "messages"],
  ["sandbox", "receive", "--from", "1", "--to", "2", "--text", "3", ...of],
  ["receipts", "list", "--parked"],
  ["inbound", "list"],
  ["erasures", "create", "--recipient", "1"],
  ["alarms", "list"],
];
const answers = ["{}", '{"status":"ok","data":{},"records":[null]}', '{"data":[null]}'];
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ headers }) => new Response(headers.get("authorization")?.slice("Bearer ".length)),
});
afterAll(() => server.stop(true));

test.each(commands.map((command) => [command]))(
  "another service's JSON is told apart: %p",
  async (command) => {
    for (const answer of answers) {
      const ran = await run([...command, "--url", `http://127.0.0.1:${server.port}`, "--token", answer]);
      expect(ran).toMatchObject({
        code: 1,
        out: "",
        err: expect.stringMatching(/answered 200 with .*: is Postrider behind/),
      });
    }
  },
);

test("settings of which none is the one that was set are told apart", async () => {
  const to = ["--url", `http://127.0.0.1:${server.port}`, "--token", '{"data":[]}'];
  const ran = await run(["settings", "set", "webhook_ca", ...to]);
  expect(ran).toMatchObject({
    code: 1,
    err: expect.stringContaining("the answer says nothing of webhook_ca"),
  });
});

test("a redirect is told of, and nothing is sent where it leads", async () => {
  const asked: string[] = [];
  using elsewhere = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) => new Response(String(asked.push(url))),
  });
  const origin = `http://127.0.0.1:${elsewhere.port}`;
  using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response(null, { status: 307, headers: { Location: `${origin}/sign-in` } }),
  });
  const secret = ["--config", '{"password":"hush"}'];
  const to = ["--url", `http://127.0.0.1:${server.port}`, "--token", "t"];
  const ran = await run(["connectors", "create", "--kind", "smpp", "--name", "x", ...secret, ...to]);
  expect(ran).toMatchObject({ code: 1, err: expect.stringContaining(`leads to ${origin}: if that is`) });
  expect(asked).toEqual([]);
});
