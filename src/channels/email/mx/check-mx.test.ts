/** `connectors test` of an `mx` connector, over real sockets and a name server of the test's. */
import { afterEach, expect, test } from "bun:test";
import { Resolver } from "node:dns/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type FakeDns, startFakeDns } from "../../../../test/fakes/fake-dns.ts";
import { type FakeSmtp, startFakeSmtp, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { mailTls } from "../../../../test/fakes/mail-tls.ts";
import { createNetwork } from "../../../cli/network/network.ts";
import { mxConnectorKind } from "./mx-connector.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openZone(): Promise<FakeDns> {
  const dns = await startFakeDns();
  closing.push(dns.close);
  return dns;
}

async function openHost(options: Parameters<typeof startFakeSmtp>[0] = {}): Promise<FakeSmtp> {
  const smtp = await startFakeSmtp(options);
  closing.push(smtp.close);
  return smtp;
}

function check(
  dns: FakeDns,
  config: Readonly<Record<string, unknown>>,
  domain?: string,
  clock = createHeldClock(),
) {
  const resolver = new Resolver({ timeout: 20_000, tries: 1 });
  resolver.setServers([dns.address]);
  const base = { id: "mx1", name: "direct", kind: "mx", secrets: {}, isEnabled: true, createdAt: 0 };
  const connector = {
    ...base,
    config: { allowed_ranges: ["127.0.0.0/8"], ehlo_name: "mail.acme.test", ...config },
  };
  const network = createNetwork(resolver);
  return mxConnectorKind.check(connector, clock, { network, ...(domain && { domain }) });
}

function host(dns: FakeDns, domain: string, ...names: readonly string[]): void {
  dns.mx.set(
    domain,
    names.map((name, index) => `${index} ${name}`),
  );
  for (const name of names) dns.a.set(name, ["127.0.0.1"]);
}

test("the check of an mx connector finds the domain's mail host, speaks to it over TLS, and sends nothing", async () => {
  const [dns, smtp] = [await openZone(), await openHost({ tls: "starttls" })];
  host(dns, "example.com", "mx.example.com");
  expect(await check(dns, { port: smtp.port }, "example.com")).toEqual({
    ok: true,
    detail: `example.com: mx.example.com (127.0.0.1, port ${smtp.port}) answers over TLS`,
  });
  await smtp.openConnections(0);
  expect([smtp.connections(), smtp.received.length]).toEqual([1, 0]);
});

test("the check of an mx connector without a name tries a domain whose hosts nearly everybody can reach", async () => {
  const [dns, smtp] = [await openZone(), await openHost()];
  host(dns, "gmail.com", "mx.gmail.test");
  const { ok, detail } = await check(dns, { port: smtp.port });
  expect(ok).toBe(true);
  expect(detail).toContain("gmail.com: mx.gmail.test");
  expect(detail).toEndWith("answers without TLS");
});

test("the check of an mx connector says goodbye, and tells of a host that did not answer before the one that did", async () => {
  const dns = await openZone();
  const raw = await startRawSmtp((verb, _, connection) =>
    verb === "GREETING" && connection === 1 ? { lastWords: "554 5.7.1 not you" } : undefined,
  );
  closing.push(raw.close);
  host(dns, "example.com", "one.example.com", "two.example.com");
  const { ok, detail } = await check(dns, { port: raw.port }, "example.com");
  expect(ok).toBe(true);
  expect(detail).toContain("two.example.com (127.0.0.1");
  expect(detail).toContain("one.example.com (127.0.0.1");
  expect(detail).toContain("not you");
  expect(await raw.heard("QUIT")).toBe("QUIT");
  expect(raw.lines.filter((line) => /^(MAIL|RCPT|DATA)/.test(line))).toEqual([]);
});

test("the check of an mx connector says of a name that many hosts refuse that they do, whether the host answers or not", async () => {
  const dns = await openZone();
  const raw = await startRawSmtp((verb, _, connection) =>
    verb === "GREETING" && connection === 1 ? { lastWords: "554 5.7.1 not you" } : undefined,
  );
  closing.push(raw.close);
  host(dns, "example.com", "mx.example.com");
  const detail = async (ehlo_name: string | undefined) =>
    (await check(dns, { port: raw.port, ehlo_name }, "example.com")).detail;
  const advice = (name: string) =>
    `; it greets as ${name}, which many hosts refuse: set ehlo_name to the full domain name of the sending address`;
  expect(await detail("[127.0.0.1]")).toEndWith(`not you${advice("[127.0.0.1]")}`);
  expect(await detail("[127.0.0.1]")).toEndWith(`answers without TLS${advice("[127.0.0.1]")}`);
  expect(await detail("mail")).toEndWith(advice("mail"));
  for (const name of ["mail.acme.test", "[192.0.2.1]", "[IPv6:2001:db8::1]"])
    expect(await detail(name)).not.toContain("greets as");
  const told = await detail(undefined);
  const greeting = raw.lines.findLast((line) => line.startsWith("EHLO")) ?? "";
  // The machine's name, which may be a full one or not.
  expect(told.includes(advice("[127.0.0.1]"))).toBe(greeting === "EHLO [127.0.0.1]");
});

test("the check of an mx connector says what stands in the way: no such domain, a null MX, a host that may not be connected to, nobody there", async () => {
  const [dns, smtp] = [await openZone(), await openHost()];
  const { port } = smtp;
  const detail = async (domain: string, config = {}) => {
    const checked = await check(dns, { port, ...config }, domain);
    expect(checked.ok).toBe(false);
    return checked.detail;
  };
  expect(await detail("nowhere.example")).toContain("does not exist");
  dns.mx.set("null.example", ["0 ."]);
  expect(await detail("null.example")).toContain("null MX");
  host(dns, "inside.example", "mx.inside.example");
  expect(await detail("inside.example", { allowed_ranges: [] })).toContain("which is not connected to");
  dns.failing.add("broken.example");
  expect(await detail("broken.example")).toContain("did not answer");
  await smtp.close();
  closing.splice(closing.indexOf(smtp.close), 1);
  expect(await detail("inside.example")).toContain("smtp.connect");
});

test("a name server that says nothing keeps nobody waiting for longer than a check may take", async () => {
  const dns = await openZone();
  dns.silent.add("example.com");
  const clock = createHeldClock();
  const checked = check(dns, {}, "example.com", clock);
  await clock.advance(15_000);
  expect(await checked).toEqual({ ok: false, detail: "example.com: the DNS did not answer in time" });
});

/** Gives `example.net` an MTA-STS policy that names these hosts; the result is the port it is served on. */
async function publish(dns: FakeDns, mode: string, pattern: string): Promise<number> {
  const text = `version: STSv1\r\nmode: ${mode}\r\nmx: ${pattern}\r\nmax_age: 86400\r\n`;
  const { key, cert } = mailTls;
  const web = createServer({ key, cert }, (_, response) => response.end(text));
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  closing.push(() => new Promise((resolve) => web.close(resolve)));
  dns.txt.set("_mta-sts.example.net", "v=STSv1; id=1;");
  dns.a.set("mta-sts.example.net", ["127.0.0.1"]);
  return (web.address() as AddressInfo).port;
}

test("the check of an mx connector keeps to the domain's MTA-STS policy as deliveries do, and tells of it", async () => {
  const [dns, smtp] = [await openZone(), await openHost({ tls: "starttls", certificate: mailTls })];
  host(dns, "example.net", "mx.example.org", "mx.example.net");
  const told = async (mode: string, pattern: string, config = {}) => {
    const mta_sts_port = await publish(dns, mode, pattern);
    return check(dns, { port: smtp.port, ca: mailTls.ca, mta_sts_port, ...config }, "example.net");
  };
  const at = (name: string) => `example.net: ${name} (127.0.0.1, port ${smtp.port}) answers over TLS`;
  expect(await told("enforce", "*.example.net")).toEqual({
    ok: true,
    detail: `${at("mx.example.net")} with a certificate that proves it; MTA-STS policy enforce`,
  });
  expect(await told("testing", "*.example.net")).toEqual({
    ok: true,
    detail: `${at("mx.example.org")}; MTA-STS policy testing`,
  });
  expect(await told("enforce", "mx.example.com")).toEqual({
    ok: false,
    detail: "example.net: its MTA-STS policy names none of its mail hosts",
  });
  expect(await told("enforce", "mx.example.com", { mta_sts: false })).toEqual({
    ok: true,
    detail: at("mx.example.org"),
  });
});
