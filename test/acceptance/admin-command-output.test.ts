/** What commands print, to readers that are slow, gone or full. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { typeInto } from "./typed-commands.ts";

const MAIN = join(import.meta.dir, "../../src/cli/main.ts");

const folder = makeDataFolder();
const { spawned } = typeInto(folder.path);
let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider({ dataFolder: folder.path });
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
  folder.remove();
});

/** A line of a shell in which `postrider` is the command line. */
async function shell(line: string): Promise<{ readonly out: string; readonly err: string }> {
  const child = Bun.spawn(["sh", "-c", `postrider() { '${process.execPath}' '${MAIN}' "$@"; }\n${line}`], {
    env: { PATH: process.env.PATH, POSTRIDER_DATA: folder.path },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { out, err };
}

test("a command that fails has printed all it had to say, also into a pipe that is full", async () => {
  const file = join(folder.path, "list.csv");
  const addresses = Array.from({ length: 20_000 }, (_, index) => `nobody${index}`);
  writeFileSync(file, `email\n${addresses.join("\n")}\n`);
  const { account_id: account } = service.sandbox;
  const { code, out } = await spawned(["suppressions", "import", "--account", account, "--file", file]);
  expect(code).toBe(1);
  expect(out.trimEnd().split("\n")).toHaveLength(20_001);
  expect(out).toEndWith("0 added, 0 there already, 20000 refused\n");
});

test("a reader that has gone away ends a command as SIGPIPE would, without a word", async () => {
  const { err } = await shell("{ postrider settings get; echo code $? >&2; } | :");
  expect(err).toBe("code 141\n");
});

test("a disk that is full is told in a line", async () => {
  const { err } = await shell("postrider settings get > /dev/full; echo code $? >&2");
  expect(err).toMatch(/^error: the output cannot be written: ENOSPC.*\ncode 1\n$/);
});

test("--json is heard by an export too, and lists can be asked for one domain, sender or connector", async () => {
  const { account_id: account } = service.sandbox;
  const run = async (...args: string[]) => (await spawned([...args, "--account", account, "--json"])).out;
  await run("suppressions", "create", "--email", "ann@example.net");
  expect(JSON.parse(await run("suppressions", "export"))).toMatchObject({ email: "ann@example.net" });
  for (const domain of ["one.example", "two.example"]) await run("domains", "create", "--domain", domain);
  expect(JSON.parse(await run("domains", "list", "--domain", "ONE.example")).data).toHaveLength(1);
  expect(JSON.parse(await run("opt-outs", "list", "--sender", "ACMECO")).data).toEqual([]);
  expect(JSON.parse(await run("inbound-numbers", "list", "--connector", "none")).data).toEqual([]);
});
