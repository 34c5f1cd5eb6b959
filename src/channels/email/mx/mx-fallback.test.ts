/** What the domain's other hosts are for: mail that one of them cannot take now (RFC 5321 §5.1). */
import { afterEach, expect, test } from "bun:test";
import {
  type FakeSmtp,
  type RawScript,
  type RawSmtp,
  startFakeSmtp,
  startRawSmtp,
} from "../../../../test/fakes/fake-smtp.ts";
import { type MxRig, openMxRig } from "../../../../test/fakes/mx-rig.ts";
import { outgoingEmail } from "../../../../test/fakes/smtp-relay.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const SIGNAL = new AbortController().signal;

interface Domain {
  readonly rig: MxRig;
  readonly first: readonly RawSmtp[];
  readonly last: FakeSmtp;
}

const openDomain = (...first: readonly RawScript[]) => openDomainWith({}, ...first);

/** `example.test` has a host at 127.0.0.1 that takes everything, and `first`, at 127.0.0.2 and so on, are asked before it. */
async function openDomainWith(
  config: Readonly<Record<string, unknown>>,
  ...first: readonly RawScript[]
): Promise<Domain> {
  const last = await startFakeSmtp({ tls: "starttls" });
  closing.push(last.close);
  const hosts = await Promise.all(
    first.map((script, index) => startRawSmtp(script, last.port, `127.0.0.${index + 2}`)),
  );
  closing.push(...hosts.map((host) => host.close));
  const rig = await openMxRig({ port: last.port, config });
  closing.push(rig.close);
  const names = [...hosts.keys()].map((index) => `mx${index}.example.test`);
  rig.dns.mx.set(
    "example.test",
    [...names, "last.example.test"].map((name, index) => `${index} ${name}`),
  );
  for (const [index, name] of names.entries()) rig.dns.a.set(name, [`127.0.0.${index + 2}`]);
  rig.dns.a.set("last.example.test", ["127.0.0.1"]);
  return { rig, first: hosts, last };
}

async function outcomesOf({ channel }: MxRig, ...names: readonly string[]) {
  const to = names.map((name) => ({ email: `${name}@example.test` }));
  return (await channel.send(outgoingEmail({ to }), SIGNAL)).parts;
}

const answering =
  (at: string, answer: ReturnType<RawScript>): RawScript =>
  (verb) =>
    verb === at ? answer : undefined;

test.each([
  ["MAIL", "452 4.3.1 insufficient system storage"],
  ["MAIL", "451 try later"],
  ["MAIL", { lastWords: "421 4.3.2 shutting down" }],
  ["MAIL", "drop"],
  ["RCPT", { lastWords: "421 4.3.2 shutting down" }],
  ["DATA", "drop"],
  ["DOT", "451 4.3.0 the filter is away"],
  ["DOT", { lastWords: "421 4.3.0 temporary system problem" }],
] as const)(
  "what a host cannot take now goes to the next in the same attempt: %s is answered %p",
  async (at, answer) => {
    const { rig, last } = await openDomain(answering(at, answer));
    expect(await outcomesOf(rig, "ann")).toMatchObject([{ kind: "sent", delivered: true }]);
    expect(last.received).toHaveLength(1);
  },
);

test.each([
  ["MAIL", "451 4.7.1 greylisted", "4.7.1"],
  ["MAIL", { lastWords: "421 4.7.0 [TSS04] messages from you are deferred" }, "4.7.0"],
  ["MAIL", "450 too many messages", "smtp.450"],
  ["RCPT", "450 4.2.0 greylisted", "4.2.0"],
  ["DOT", "451 local error in processing", "smtp.451"],
  ["DOT", { lastWords: "421 4.7.28 rate limited" }, "4.7.28"],
] as const)(
  "what a host says of us, the recipient or the message holds for its domain: %s is answered %p",
  async (at, answer, code) => {
    const { rig, last } = await openDomain(answering(at, answer));
    expect(await outcomesOf(rig, "ann")).toMatchObject([{ kind: "deferred", error: { code } }]);
    expect(last.connections()).toBe(0);
  },
);

test("the recipients that a host has judged are not offered to the next", async () => {
  const { rig, last } = await openDomain((verb, line) => {
    if (verb === "RCPT" && line.includes("bob")) return "550 5.1.1 no such user";
    return verb === "DATA" ? "drop" : undefined;
  });
  expect(await outcomesOf(rig, "ann", "bob")).toMatchObject([
    { kind: "sent" },
    { kind: "rejected", bounced: true },
  ]);
  expect(last.received.map(({ to }) => to)).toEqual([["ann@example.test"]]);
});

test("a recipient who needs SMTPUTF8 is offered to the domain's next host if the first one lacks it, and to no host twice", async () => {
  const { rig, first, last } = await openDomain(() => undefined);
  // Only an address that the header shows makes the whole mail need it.
  const to = { to: [{ email: "ann@example.test" }], bcc: [{ email: "jürgen@example.test" }] };
  const { parts } = await rig.channel.send(outgoingEmail(to), SIGNAL);
  expect(parts).toMatchObject([{ kind: "sent" }, { kind: "sent" }]);
  expect(last.received.map(({ to }) => to)).toEqual([["jürgen@example.test"]]);
  expect(first[0]?.lines.filter((line) => line.startsWith("RCPT"))).toEqual(["RCPT TO:<ann@example.test>"]);
});

test("a recipient who needs SMTPUTF8 is refused where no host that can be reached has it", async () => {
  const { rig, last } = await openDomain(
    () => undefined,
    () => undefined,
  );
  await last.close();
  expect(await outcomesOf(rig, "jürgen")).toMatchObject([
    { kind: "rejected", error: { code: "smtp.smtputf8" } },
  ]);
});

test("a recipient who needs SMTPUTF8 waits where only our own limit keeps the mail from a host that may have it", async () => {
  const { rig, last } = await openDomainWith({ max_per_second_per_host: 0.05 }, () => undefined);
  rig.host("other.test", "last.example.test");
  await rig.channel.send(outgoingEmail({ to: [{ email: "ann@other.test" }] }), SIGNAL);
  expect(await outcomesOf(rig, "jürgen")).toMatchObject([{ kind: "deferred", error: { code: "mx.busy" } }]);
  await rig.clock.advance(20_000);
  expect(await outcomesOf(rig, "jürgen")).toMatchObject([{ kind: "sent" }]);
  expect(last.received).toHaveLength(2);
});

const IMPATIENT = { response_timeout_ms: 2_000 };

test("a host that has stopped answering is not waited for by each recipient: the next one gets the rest", async () => {
  const { rig, first, last } = await openDomainWith(IMPATIENT, answering("MAIL", "silence"));
  const to = ["ann", "bob", "cid"].map((name) => ({ email: `${name}@example.test` }));
  const each = outgoingEmail({ to }, { returnPathHost: "bounces.acme.example" });
  const { parts } = await rig.channel.send(each, SIGNAL);
  expect(parts.map((part) => part?.kind)).toEqual(["sent", "sent", "sent"]);
  expect(first[0]?.connections()).toBe(1);
  expect(last.received.map((mail) => mail.to)).toEqual(to.map(({ email }) => [email]));
});

test("the only host is asked for each recipient, whatever it did for the one before", async () => {
  const { rig, first, last } = await openDomainWith(IMPATIENT, (verb, line) =>
    verb === "RCPT" && line.includes("ann") ? "silence" : undefined,
  );
  rig.dns.mx.set("example.test", ["0 mx0.example.test"]);
  const to = ["ann", "bob"].map((name) => ({ email: `${name}@example.test` }));
  const each = outgoingEmail({ to }, { returnPathHost: "bounces.acme.example" });
  expect((await rig.channel.send(each, SIGNAL)).parts).toMatchObject([
    { kind: "deferred" },
    { kind: "sent" },
  ]);
  expect([first[0]?.connections(), last.connections()]).toEqual([2, 0]);
});

test("the timeline tells of TLS only if every recipient's copy went over it", async () => {
  let mails = 0;
  const { rig } = await openDomainWith({}, (verb) =>
    verb === "MAIL" && ++mails > 1 ? "452 4.3.1 disk full" : undefined,
  );
  const to = ["ann", "bob"].map((name) => ({ email: `${name}@example.test` }));
  const each = outgoingEmail({ to }, { returnPathHost: "bounces.acme.example" });
  expect(await rig.channel.send(each, SIGNAL)).toMatchObject({
    parts: [{ kind: "sent" }, { kind: "sent" }],
    detail: { tls: false },
  });
});

test("three hosts that cannot take it are enough for one attempt, and the reply of the last is told", async () => {
  const full = (text: string) => answering("MAIL", `452 4.3.1 ${text}`);
  const { rig, first, last } = await openDomain(full("one"), full("two"), full("three"));
  expect(await outcomesOf(rig, "ann")).toMatchObject([
    { kind: "deferred", error: { code: "4.3.1", message: "452 three" } },
  ]);
  expect(first.map((host) => host.connections())).toEqual([1, 1, 1]);
  expect(last.connections()).toBe(0);
});

test("another host comes before the other addresses of one that has put it off", async () => {
  const { rig, last } = await openDomain((verb) => (verb === "MAIL" ? "452 4.3.1 disk full" : undefined));
  rig.dns.a.set("mx0.example.test", ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"]);
  for (const address of ["127.0.0.3", "127.0.0.4", "127.0.0.5"]) {
    const other = await startRawSmtp(answering("MAIL", "452 4.3.1 disk full"), last.port, address);
    closing.push(other.close);
  }
  expect(await outcomesOf(rig, "ann")).toMatchObject([{ kind: "sent", delivered: true }]);
});

test("that the next host cannot be reached does not hide what the first one said", async () => {
  const { rig, last } = await openDomain(answering("MAIL", "452 4.3.1 insufficient system storage"));
  await last.close();
  expect(await outcomesOf(rig, "ann")).toMatchObject([{ kind: "deferred", error: { code: "4.3.1" } }]);
});
