/** What commands print, to readers that are slow, gone or full. */
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeBesideService } from "./typed-commands.ts";

const { spawned, run, shell, dataFolder, service } = typeBesideService();

test("a command that fails has printed all it had to say, also into a pipe that is full", async () => {
  const file = join(dataFolder, "list.csv");
  // A line for each is much more than a pipe holds.
  const refused = 20_000;
  const addresses = Array.from({ length: refused }, (_, index) => `nobody${index}`);
  writeFileSync(file, `email\n${addresses.join("\n")}\n`);
  const { account_id: account } = service().sandbox;
  const { code, out } = await spawned(["suppressions", "import", "--account", account, "--file", file]);
  expect(code).toBe(1);
  expect(out.trimEnd().split("\n")).toHaveLength(refused + 1);
  expect(out).toEndWith(`0 added, 0 there already, ${refused} refused\n`);
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
  const { account_id: account } = service().sandbox;
  const run = async (...args: string[]) => (await spawned([...args, "--account", account, "--json"])).out;
  await run("suppressions", "create", "--email", "ann@example.net");
  expect(JSON.parse(await run("suppressions", "export"))).toMatchObject({ email: "ann@example.net" });
  for (const domain of ["one.example", "two.example"]) await run("domains", "create", "--domain", domain);
  expect(JSON.parse(await run("domains", "list", "--domain", "ONE.example")).data).toHaveLength(1);
  await run("opt-outs", "create", "--recipient", "+919876543210", "--sender", "ACMEIN");
  for (const [sender, count] of [
    ["ACMEIN", 1],
    ["ACMECO", 0],
  ] as const)
    expect(JSON.parse(await run("opt-outs", "list", "--sender", sender)).data).toHaveLength(count);
  const smsc = [
    "--kind",
    "smpp",
    "--host",
    "smsc.example.net",
    "--system-id",
    "acme",
    "--password",
    "s3cret",
  ];
  const connector = JSON.parse((await spawned(["connectors", "create", ...smsc, "--json"])).out).id;
  await run("inbound-numbers", "create", "--number", "+14155550123");
  expect(JSON.parse(await run("inbound-numbers", "list")).data).toHaveLength(1);
  expect(JSON.parse(await run("inbound-numbers", "list", "--connector", connector)).data).toEqual([]);
});

const ODD = "\u001b]0;x\u0007\u009b2J\u202e";

/** A server that has been told odd things, and repeats them. */
const repeating = () =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch({ url }) {
      if (url.endsWith("/test")) return Response.json({ ok: true, detail: `250 ${ODD}\nfailed: no` });
      if (url.includes("/webhooks/secret")) return Response.json({ secrets: [{ secret: ODD }] });
      if (url.includes("/domains/"))
        return Response.json({ id: "1", records: [{ zone: `a. IN TXT "${ODD}"` }] });
      return Response.json({ data: [{ id: ODD }], next: ODD });
    },
  });

test("what a server repeats never drives the terminal, and is the same value as JSON", async () => {
  const server = repeating();
  try {
    const to = ["--url", `http://127.0.0.1:${server.port}`, "--token", "t"];
    const shown = "�]0;x��2J�";
    expect((await run(["connectors", "test", "1", ...to])).out).toBe(`ok: 250 ${shown}⏎failed: no\n`);
    expect((await run(["webhooks", "secret", "--account", "1", ...to])).out).toBe(`${shown}\n`);
    expect((await run(["domains", "show", "1", ...to])).out).toEndWith(`\na. IN TXT "${shown}"\n`);
    expect((await run(["accounts", "list", ...to])).out).toEndWith(`more: --after ${shown}\n`);
    const { out } = await run(["accounts", "list", "--json", ...to]);
    expect(out.trimEnd()).not.toMatch(/\p{Cc}|\p{Bidi_C}/u);
    expect(JSON.parse(out)).toEqual({ data: [{ id: ODD }], next: ODD });
  } finally {
    await server.stop(true);
  }
});

test("what a backup says of itself never drives the terminal", async () => {
  const backup = join(dataFolder, "backup");
  expect((await spawned(["backup", "--to", backup, "--with-key"])).code).toBe(0);
  const path = join(backup, "backup.json");
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), version: ODD }));
  const into = join(dataFolder, "restored");
  const { code, out } = await spawned(["restore", "--from", backup, "--data", into]);
  expect(code).toBe(0);
  expect(out).toContain("by �]0;x��2J�\n");
});
