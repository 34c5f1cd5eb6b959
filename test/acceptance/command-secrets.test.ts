/** Secrets need not be typed, where the list of processes shows them: they can come on standard input. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { admin } from "../admin.ts";
import { startRawSmtp } from "../fakes/fake-smtp.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");
const folder = makeDataFolder();
let service: PostriderProcess;
beforeAll(async () => {
  service = await startPostrider({ dataFolder: folder.path });
});
afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
  folder.remove();
});

async function type(input: string, ...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([process.execPath, MAIN, ...args], {
    env: { PATH: process.env.PATH ?? "", POSTRIDER_DATA: folder.path },
    stdin: Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return out;
}

test("a connector is made, and changed, with a password that comes on standard input", async () => {
  const relay = await startRawSmtp((verb) => {
    if (verb === "EHLO") return "250-relay.test\r\n250 AUTH PLAIN";
    return verb === "AUTH" ? "235 2.7.0 welcome" : undefined;
  });
  const made = await type(
    '{"password":"first"}\n',
    ...["connectors", "create", "--kind", "smtp", "--host", relay.host, "--port", String(relay.port)],
    ...["--tls", "none", "--username", "ann", "--config", "-", "--json"],
  );
  const { id } = JSON.parse(made) as { id: string };
  await type('{"password":"second"}', "connectors", "update", id, "--config", "-");
  expect(await admin(service, `/connectors/${id}/test`, {})).toMatchObject({ ok: true });
  const login = Buffer.from("\0ann\0second").toString("base64");
  expect(relay.lines.filter((line) => line.startsWith("AUTH")).at(-1)).toBe(`AUTH PLAIN ${login}`);
  await relay.close();
});

test("a setting takes its value from standard input, with its line breaks", async () => {
  await type("acme.example\n", "settings", "set", "return_path_host", "-");
  expect(await type("", "settings", "get", "return_path_host")).toBe("acme.example\n");
});
