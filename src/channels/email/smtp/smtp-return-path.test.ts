import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { RETURN_PATH_KEY } from "../../../../test/fakes/channel-deps.ts";
import type { RawScript } from "../../../../test/fakes/fake-smtp.ts";
import {
  openSmtpRelay,
  outgoingEmail,
  smtpConnector,
  withRelays,
} from "../../../../test/fakes/smtp-relay.ts";
import { createReturnPaths } from "../part-address.ts";

const NEVER = new AbortController().signal;
const ANN = { email: "ann+news@example.test" };
const BOB = { email: "bob@example.test" };
const HOST = "bounce.acme.test";

const returnPaths = createReturnPaths(RETURN_PATH_KEY);

const { fake, raw, closeLater } = withRelays();

async function relay(extensions: string, script: RawScript = () => undefined) {
  const server = await raw((verb, line, connection) =>
    verb === "EHLO" ? `250-raw.test\r\n${extensions}` : script(verb, line, connection),
  );
  const opened = openSmtpRelay(smtpConnector(server.port));
  closeLater(opened.channel.stop);
  await opened.became("up");
  const said = () => server.lines.filter((line) => /^(MAIL|RCPT)/.test(line));
  return { ...opened, server, said };
}

test("where bounces can come back, every recipient has an envelope of their own, and a relay with DSN is asked what becomes of each", async () => {
  const { channel, said } = await relay("250 DSN");
  const message = outgoingEmail({ to: [ANN, BOB] }, { returnPathHost: HOST });
  const { parts, detail } = await channel.send(message, NEVER);
  expect(parts.map((part) => part?.kind)).toEqual(["sent", "sent"]);
  expect(detail).not.toHaveProperty("queue_id");
  expect(parts[0]).not.toHaveProperty("expectsReceipt");
  const from = (part: number) => returnPaths.address({ messageId: message.messageId, part, host: HOST });
  expect(said()).toEqual([
    `MAIL FROM:<${from(0)}> RET=HDRS ENVID=${message.messageId}`,
    `RCPT TO:<${ANN.email}> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;ann+2Bnews@example.test`,
    `MAIL FROM:<${from(1)}> RET=HDRS ENVID=${message.messageId}`,
    `RCPT TO:<${BOB.email}> NOTIFY=SUCCESS,FAILURE ORCPT=rfc822;bob@example.test`,
  ]);
});

test("of an email that another process may have taken over meanwhile no further envelope is sent", async () => {
  let isOurs = true;
  const { channel, said } = await relay("250 DSN", (verb) => {
    if (verb === "DOT") isOurs = false;
    return undefined;
  });
  const message = outgoingEmail({ to: [ANN, BOB] }, { returnPathHost: HOST });
  const { parts } = await channel.send(message, NEVER, () => isOurs);
  expect(parts.map((part) => part?.kind)).toEqual(["sent", "deferred"]);
  expect(said()).toHaveLength(2);
});

test("of a recipient who stands in two places a bounce is about the first", async () => {
  const { channel, said } = await relay("250 DSN");
  const message = outgoingEmail({ to: [BOB, ANN], bcc: [ANN] }, { returnPathHost: HOST });
  await channel.send(message, NEVER);
  expect(said()[2]).toContain(returnPaths.address({ messageId: message.messageId, part: 1, host: HOST }));
  expect(said()).toHaveLength(4);
});

test("a relay without DSN is asked nothing, and no receipt is expected of it", async () => {
  const { channel, said } = await relay("250 8BITMIME");
  const { parts } = await channel.send(outgoingEmail({}, { returnPathHost: HOST }), NEVER);
  expect(parts[0]).toMatchObject({ kind: "sent", expectsReceipt: false });
  expect(said().join("\n")).not.toMatch(/ENVID|NOTIFY/);
});

test("without a return path of ours bounces go to the sender, who is asked for none", async () => {
  const { channel, said } = await relay("250 DSN");
  const { parts } = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
  expect(parts).toMatchObject([{ expectsReceipt: false }, { expectsReceipt: false }]);
  expect(said()).toEqual(["MAIL FROM:<shop@acme.test>", `RCPT TO:<${ANN.email}>`, `RCPT TO:<${BOB.email}>`]);
});

test("an address beyond ASCII is not repeated for the report, which names it in another form", async () => {
  const { channel, said } = await relay("250-SMTPUTF8\r\n250 DSN");
  await channel.send(
    outgoingEmail({ to: [{ email: "jörg@example.test" }] }, { returnPathHost: HOST }),
    NEVER,
  );
  expect(said()[1]).toEndWith("> NOTIFY=SUCCESS,FAILURE");
});

test("one recipient refused leaves the others their own way", async () => {
  const { channel } = await relay("250 DSN", (verb, line) =>
    verb === "RCPT" && line.includes("ann") ? "550 5.1.1 unknown" : undefined,
  );
  const { parts } = await channel.send(outgoingEmail({ to: [ANN, BOB] }, { returnPathHost: HOST }), NEVER);
  expect(parts).toMatchObject([{ kind: "rejected", bounced: true }, { kind: "sent" }]);
});

test("a server that goes away between two recipients has taken the first and not the second", async () => {
  let mails = 0;
  const { channel, server } = await relay("250 DSN", (verb) => {
    if (verb === "MAIL") mails++;
    return verb === "MAIL" && mails > 1 ? "drop" : undefined;
  });
  const outcome = await channel.send(outgoingEmail({ to: [ANN, BOB] }, { returnPathHost: HOST }), NEVER);
  expect(outcome).toMatchObject({ parts: [{ kind: "sent" }, { kind: "deferred" }], countsAsAttempt: true });
  expect(server.lines.filter((line) => line.startsWith(`RCPT TO:<${ANN.email}`))).toHaveLength(1);
});

test("mail is signed, unless the relay does it", async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const dkim = [{ domain: "acme.test", selector: "pr1", privateKey }];
  for (const [config, isSigned] of [
    [{}, true],
    [{ sign: false }, false],
  ] as const) {
    const server = await fake();
    const { channel, became } = openSmtpRelay(smtpConnector(server.port, config));
    closeLater(channel.stop);
    await became("up");
    await channel.send(outgoingEmail({}, { dkim }), NEVER);
    expect((await server.mail(0)).raw.startsWith("DKIM-Signature:")).toBe(isSigned);
  }
});

test("SMTPUTF8 is asked for where an address of the header alone needs it, and not for the next message", async () => {
  const { channel, said } = await relay("250 SMTPUTF8");
  await channel.send(
    outgoingEmail({ to: [ANN], replyTo: "jürgen@acme.test" }, { returnPathHost: HOST }),
    NEVER,
  );
  await channel.send(outgoingEmail({ to: [ANN] }, { returnPathHost: HOST }), NEVER);
  const senders = said().filter((line) => line.startsWith("MAIL"));
  expect(senders.map((line) => line.endsWith("> SMTPUTF8"))).toEqual([true, false]);
});
