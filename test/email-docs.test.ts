/** docs/email-domain.md and docs/email-bounces.md, followed to the letter, from an empty zone to a bounce. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { verdicts } from "../bench/verify-dkim.ts";
import { admin } from "./admin.ts";
import { blocksOf, commandsOf, openShell, type Shell } from "./documented-commands.ts";
import { postfixDsn } from "./fakes/bounce-mails.ts";
import { type FakeDns, startFakeDns } from "./fakes/fake-dns.ts";
import { type FakeSmtp, startFakeSmtp } from "./fakes/fake-smtp.ts";
import { keptPort } from "./fakes/kept-port.ts";
import { mailBack } from "./fakes/mail-back.ts";
import { testTls } from "./fakes/test-tls.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "./postrider-process.ts";
import type { Ran } from "./ran.ts";
import { until } from "./until.ts";

const PAGE = "email-domain.md";

/** A page is a dozen commands, each a process of its own. */
const LONG_MS = 90_000;

const folder = makeDataFolder();
let service: PostriderProcess;
let dns: FakeDns;
let relay: FakeSmtp;
let far: FakeSmtp;
let bouncePort: number;
let shell: Shell;

beforeAll(async () => {
  bouncePort = await keptPort();
  const auth = { username: "acme", password: "s3cret" };
  [service, dns, relay, far] = await Promise.all([
    startPostrider({ dataFolder: folder.path, env: { BOUNCE_PORT: String(bouncePort) } }),
    startFakeDns(),
    startFakeSmtp({ tls: "starttls", auth, certificate: testTls }),
    startFakeSmtp({ tls: "starttls" }),
  ]);
  await admin(service, "/settings/dns_servers", { value: dns.address }, "PUT");
  shell = openShell(folder.path);
  writeFileSync(join(folder.path, "ca.pem"), testTls.ca);
  dns.mx.set("example.net", ["10 mx.example.net"]);
  dns.a.set("mx.example.net", ["127.0.0.1"]);
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
  await Promise.all([relay.close(), far.close()]);
  dns.close();
  folder.remove();
});

/** What has to be other than written, since nothing here is where it would be. */
function seated(command: string): string {
  return command
    .replace("http://127.0.0.1:8080", service.url)
    .replace(
      "--host smtp.example.net --port 587",
      `--host 127.0.0.1 --port ${relay.port} --ca="$(cat ca.pem)"`,
    )
    .replace(/^(postrider connectors create --kind mx .*)$/, (line) => {
      const config = { port: far.port, allowed_ranges: ["127.0.0.0/8"], mta_sts: false };
      return `${line} --config '${JSON.stringify(config)}'`;
    });
}

/** What a command prints is what the next ones are given, as the page says. */
const PRINTED: readonly (readonly [RegExp, string, RegExp])[] = [
  [/^postrider accounts create/, "ACCOUNT_ID", /^id +(\S+)$/m],
  [/^postrider keys create/, "API_KEY", /^api_key +(\S+)$/m],
  [/^postrider domains create/, "DOMAIN_ID", /^id +(\S+)$/m],
  [/^postrider connectors create/, "CONNECTOR_ID", /^id +(\S+)$/m],
  [/^curl/, "MESSAGE_ID", /"message_id":"([^"]+)"/],
];

async function follow(command: string): Promise<Ran> {
  const ran = await shell.run(seated(command));
  const [, name, value] = PRINTED.find(([start]) => start.test(command)) ?? [];
  const found = value?.exec(ran.out)?.[1];
  if (name && found) shell.variables[name] = found;
  return ran;
}

/** The commands of a section, each of which succeeds; what the last one printed. */
async function followAll(heading: string): Promise<string> {
  let out = "";
  for (const command of blocksOf(PAGE, heading)
    .filter(({ language }) => language === "sh")
    .flatMap(commandsOf)) {
    const ran = await follow(command);
    expect([command, ran.code, ran.err.replace(/^ *% Total[\s\S]*$/, "")]).toEqual([command, 0, ""]);
    ({ out } = ran);
  }
  return out;
}

/** The lines of a zone file that a command printed, put where the DNS has them. */
function publish(printed: string): number {
  const lines = [...printed.matchAll(/^(\S+)\. 3600 IN (TXT|CNAME) (.*?)( ;.*)?$/gm)];
  for (const [, name = "", type, value = ""] of lines) {
    if (type === "CNAME") dns.cname.set(name, value.replace(/\.$/, ""));
    else dns.txt.set(name, [...value.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join(""));
  }
  return lines.length;
}

/** State, type and name of each record; the selectors are chance. */
function columns(table: string): readonly string[] {
  const rows = table.split("\n").filter((line) => /^(ok|missing|advised|wrong)\b/.test(line));
  return rows.map((line) =>
    line
      .replace(/pr[0-9a-f]{8}/, "pr")
      .split(/ +/)
      .slice(0, 3)
      .join(" "),
  );
}

test(
  "from an empty zone to a verified domain",
  async () => {
    await followAll("");
    await followAll("1.");
    const records = await followAll("2.");
    const [verify = ""] = commandsOf(blocksOf(PAGE, "3.")[0]!);
    const [, before, after] = blocksOf(PAGE, "3.");
    const early = await follow(verify);
    expect(early.code).toBe(1);
    expect(columns(early.out)).toEqual(columns(before!.text));
    expect(publish(records)).toBe(5);
    // Settings and answers of the DNS are remembered for a moment.
    const late = await until(
      () => follow(verify),
      ({ code }) => code === 0,
    );
    expect(columns(late.out)).toEqual(columns(after!.text));
  },
  LONG_MS,
);

const SEND = /^curl/;
const TIMELINE = "postrider messages timeline $MESSAGE_ID";

test(
  "straight to the mail hosts of one domain, over a relay to all others: signed, delivered, and bounced later",
  async () => {
    await followAll("4.");
    const timeline = await followAll("5.");
    if (!timeline.includes("delivered"))
      await until(
        () => follow(TIMELINE),
        ({ out }) => out.includes("delivered"),
      );
    const direct = await far.mail(0);
    expect(direct.to).toEqual(["ann@example.net"]);
    const [send = ""] = blocksOf(PAGE, "5.")
      .flatMap(commandsOf)
      .filter((command) => SEND.test(command));
    await follow(send.replace("ann@example.net", "ann@example.org"));
    const { raw, from, user } = await relay.mail(0);
    expect(user).toBe("acme");
    for (const mail of [raw, direct.raw]) {
      expect((await verdicts(mail, dns.txt)).filter(({ holds }) => !holds)).toEqual([]);
    }
    expect(from).toMatch(/^b-[a-z0-9]{40,}@bounce\.example\.com$/);
    const bounce = postfixDsn({ recipient: "ann@example.org" });
    expect(await mailBack({ port: bouncePort, to: from, raw: bounce })).toStartWith("250");
    const { out } = await follow(TIMELINE);
    expect(out).toContain("bounced");
  },
  LONG_MS,
);

test("a rotation prints the records of the old keys and of the new", async () => {
  expect(publish(await followAll("6."))).toBeGreaterThanOrEqual(5);
});

test("the suppression list is imported, exported and released as the page shows", async () => {
  const [block] = blocksOf("email-bounces.md").filter(({ text }) => text.includes("suppressions import"));
  writeFileSync(join(folder.path, "list.csv"), "email,reason\nann@example.net,complaint\nnobody,\n");
  shell.variables.ACCOUNT = shell.variables.ACCOUNT_ID ?? "";
  await shell.run("postrider suppressions release --account $ACCOUNT --email ann@example.org");
  for (const shown of block!.text.split(/^(?=\$ )/m)) {
    const [command = "", ...expected] = shown.trimEnd().split("\n");
    const { out, err } = await shell.run(command.slice(2));
    const lines = (err + out).trimEnd().split("\n");
    expect(lines.map(withoutTime)).toEqual(expected.map(withoutTime));
  }
});

function withoutTime(line: string): string {
  return line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "…");
}
