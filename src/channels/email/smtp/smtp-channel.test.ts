import { expect, test } from "bun:test";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";

const NEVER = new AbortController().signal;
const SENT: PartOutcome = { kind: "sent", providerMessageIds: [], delivered: false, expectsReceipt: false };
const ANN = { email: "ann@example.test" };
const BOB = { email: "bob@example.test" };

const { fake, raw, upRelay } = withRelays();

test("a message goes to all its recipients in one envelope, and a relay's 250 is sent, not delivered", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  const message = outgoingEmail({
    cc: [{ email: "cc@example.test" }],
    bcc: [{ email: "hidden@example.test" }],
    bodyHtml: "<p>Hello</p>",
  });
  const outcome = await channel.send(message, NEVER);
  expect(outcome.parts).toEqual([SENT, SENT, SENT]);
  expect(outcome.countsAsAttempt).toBe(true);
  expect(outcome.detail).toMatchObject({ recipients: 3, tls: false, queue_id: "Q1" });
  const [mail] = server.received;
  expect(mail?.from).toBe("shop@acme.test");
  expect(mail?.to).toEqual(["ann@example.test", "cc@example.test", "hidden@example.test"]);
  expect(mail?.raw).not.toMatch(/hidden|bcc/i);
  expect(mail?.parsed.messageId).toBe(`<${message.messageId}@acme.test>`);
  expect(mail?.parsed.html?.trim()).toBe("<p>Hello</p>");
});

test("the server's queue id is the provider's id where the envelope has one recipient", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail(), NEVER);
  expect(parts).toEqual([
    { kind: "sent", providerMessageIds: ["Q1"], delivered: false, expectsReceipt: false },
  ]);
});

test("lines that begin with dots arrive as they were", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  await channel.send(outgoingEmail({ bodyText: ".\n..\n.end\n" }), NEVER);
  expect(server.received[0]?.parsed.text).toBe(".\n..\n.end\n");
});

test("only parts that are still to be tried are tried, within those the job covers", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  const to = ["a", "b", "c", "d"].map((name) => ({ email: `${name}@example.test` }));
  const message = outgoingEmail(
    { to },
    {
      parts: [
        { status: "sent", address: "a@example.test" },
        { status: "unconfirmed", address: "b@example.test" },
        { status: "pending", address: "c@example.test" },
        { status: "pending", address: "d@example.test" },
      ],
      only: [0, 1, 3],
    },
  );
  const { parts } = await channel.send(message, NEVER);
  expect(parts).toEqual([undefined, SENT, undefined, SENT]);
  expect(server.received[0]?.to).toEqual(["b@example.test", "d@example.test"]);
});

test("an address that stands in two places gets one copy and both parts its outcome", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail({ to: [ANN], cc: [BOB], bcc: [ANN] }), NEVER);
  expect(parts.map((part) => part?.kind)).toEqual(["sent", "sent", "sent"]);
  expect(server.received[0]?.to).toEqual([ANN.email, BOB.email]);
});

test("a recipient refused for good bounces, one put off is deferred, and the others get the message", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  server.dial.rcpt = {
    [ANN.email]: { code: 550, text: `5.1.1 <${ANN.email}>: no such user` },
    [BOB.email]: { code: 450, text: "4.2.1 greylisted" },
  };
  const outcome = await channel.send(outgoingEmail({ to: [ANN, BOB, { email: "eve@example.test" }] }), NEVER);
  expect(outcome.parts).toEqual([
    { kind: "rejected", bounced: true, error: { code: "5.1.1", message: "550 <address>: no such user" } },
    { kind: "deferred", error: { code: "4.2.1", message: "450 greylisted" } },
    SENT,
  ]);
  expect(server.received[0]?.to).toEqual(["eve@example.test"]);
});

test("when every recipient is refused nothing is sent, the attempt counts, and the connection goes on", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  server.dial.rcpt = { "*": { code: 451, text: "later" } };
  const refused = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
  expect(refused.parts.map((part) => part?.kind)).toEqual(["deferred", "deferred"]);
  expect(refused.countsAsAttempt).toBe(true);
  delete server.dial.rcpt;
  const outcome = await channel.send(outgoingEmail(), NEVER);
  expect(outcome.parts[0]?.kind).toBe("sent");
  expect([server.received.length, server.connections()]).toEqual([1, 1]);
});

for (const [stage, verb] of [
  ["MAIL", "mail"],
  ["the message", "message"],
] as const) {
  test(`5yz to ${stage} rejects without a bounce, 4yz defers`, async () => {
    const server = await fake();
    const { channel } = await upRelay(server.port);
    server.dial[verb] = { code: 554, text: "5.7.1 policy" };
    const rejected = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
    const rejection = { kind: "rejected", error: { code: "5.7.1", message: "554 policy" } } as const;
    expect(rejected.parts).toEqual([rejection, rejection]);
    server.dial[verb] = { code: 451, text: "4.3.0 busy" };
    const deferred = await channel.send(outgoingEmail(), NEVER);
    expect(deferred).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "4.3.0" } }],
      countsAsAttempt: true,
    });
    expect(server.received).toEqual([]);
  });
}

for (const pipelining of [false, true]) {
  const extension = pipelining ? "250-raw.test\r\n250 PIPELINING" : "250 raw.test";
  const how = pipelining ? "with pipelining" : "without pipelining";

  test(`a refusal of DATA is told from one of the message, ${how}`, async () => {
    let answer = "451 4.3.0 no room";
    const server = await raw((verb) => (verb === "EHLO" ? extension : verb === "DATA" ? answer : undefined));
    const { channel } = await upRelay(server.port);
    expect((await channel.send(outgoingEmail(), NEVER)).parts[0]).toMatchObject({
      kind: "deferred",
      error: { code: "4.3.0" },
    });
    answer = "554 5.7.1 never";
    expect((await channel.send(outgoingEmail(), NEVER)).parts[0]).toEqual({
      kind: "rejected",
      error: { code: "5.7.1", message: "554 never" },
    });
    expect(server.connections()).toBe(1);
  });

  test(`a refused sender does not bounce the recipients that are refused with it, ${how}`, async () => {
    const server = await raw((verb) => {
      if (verb === "EHLO") return extension;
      if (verb === "MAIL") return "451 4.7.1 slow down";
      return verb === "RCPT" || verb === "DATA" ? "554 5.5.1 no MAIL" : undefined;
    });
    const { channel } = await upRelay(server.port);
    const { parts } = await channel.send(outgoingEmail(), NEVER);
    expect(parts[0]).toMatchObject({ kind: "deferred", error: { code: "4.7.1" } });
  });

  test(`refusals that came before the connection was lost hold, ${how}`, async () => {
    const server = await raw((verb, line) => {
      if (verb === "EHLO") return extension;
      if (line.includes(ANN.email)) return "550 5.1.1 unknown";
      return line.includes(BOB.email) ? "drop" : undefined;
    });
    const { channel } = await upRelay(server.port);
    const { parts } = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
    expect(parts).toMatchObject([{ kind: "rejected", bounced: true }, { kind: "deferred" }]);
  });
}

test("a message over the size that the server names is rejected without sending it", async () => {
  const server = await fake({ maxOctets: 10_000 });
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail({ bodyText: "x ".repeat(20_000) }), NEVER);
  expect(parts[0]).toMatchObject({ kind: "rejected", error: { code: "5.3.4" } });
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
});

test("international addresses go where SMTPUTF8 is offered, and are rejected with the reason where it is not", async () => {
  const jürgen = { email: "jürgen@example.test" };
  const able = await fake();
  const ableRelay = await upRelay(able.port);
  expect((await ableRelay.channel.send(outgoingEmail({ to: [jürgen] }), NEVER)).parts[0]?.kind).toBe("sent");
  expect(able.received[0]?.to).toEqual([jürgen.email]);

  const server = await fake({ smtpUtf8: false });
  const { channel } = await upRelay(server.port);
  const inHeader = await channel.send(outgoingEmail({ to: [ANN, jürgen] }), NEVER);
  const refusal = () => ({ kind: "rejected", error: { code: "smtp.smtputf8" } });
  expect(inHeader.parts).toMatchObject([refusal(), refusal()]);
  const inBcc = await channel.send(outgoingEmail({ to: [ANN], bcc: [jürgen] }), NEVER);
  expect(inBcc.parts).toMatchObject([{ kind: "sent" }, refusal()]);
  expect(server.received.map(({ to }) => to)).toEqual([[ANN.email]]);
});

test("what could forge a header or an envelope never reaches the server", async () => {
  const server = await raw(() => undefined);
  const { channel } = await upRelay(server.port);
  const evil = "x@example.test>\r\nRCPT TO:<eve@example.test";
  for (const message of [
    outgoingEmail({ subject: "a\r\nBcc: eve@example.test" }),
    outgoingEmail({ to: [{ email: evil }] }),
    outgoingEmail({ from: { email: evil } }),
    outgoingEmail({ headers: { "X-A": "1\r\n\r\nbody" } }),
    outgoingEmail({}, { parts: [{ status: "pending", address: evil }] }),
  ]) {
    expect((await channel.send(message, NEVER)).parts[0]?.kind).toBe("rejected");
  }
  expect(server.lines.filter((line) => /^(MAIL|RCPT)/.test(line))).toEqual([]);
});

test("the error of an answer tells no addresses and is one short line", async () => {
  const server = await raw((verb) =>
    verb === "RCPT"
      ? `550-5.1.1 <${ANN.email}> unknown\r\n550 5.1.1 ${"see https://x.test ".repeat(50)}`
      : undefined,
  );
  const { channel } = await upRelay(server.port);
  const [part] = (await channel.send(outgoingEmail(), NEVER)).parts;
  const message = part?.kind === "rejected" ? part.error.message : "";
  expect(message).toStartWith("550 <address> unknown see");
  expect(message).not.toContain("ann");
  expect(message.length).toBeLessThanOrEqual(200);
});
