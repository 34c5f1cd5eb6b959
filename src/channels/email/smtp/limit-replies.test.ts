import { afterEach, expect, test } from "bun:test";
import { type RawScript, startRawSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { openSmtpRelay, outgoingEmail, smtpConnector } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const MANY_EMPTY_LINES = "\r\n".repeat(500_000);

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function relay(script: RawScript) {
  const server = await startRawSmtp(script);
  const opened = openSmtpRelay(smtpConnector(server.port, { tls: "none" }));
  cleanups.push(server.close, opened.channel.stop);
  return opened;
}

test("a server that answers with empty lines without end is hung up on, and the message is tried again", async () => {
  const { channel, became } = await relay((verb) =>
    verb === "MAIL" ? `${MANY_EMPTY_LINES}250 ok` : undefined,
  );
  await became("up");
  const outcome = await channel.send(outgoingEmail(), NEVER);
  expect(outcome.parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.connection_lost" } }]);
});

test("a server that greets with empty lines without end is down", async () => {
  const { channel, became } = await relay((verb) =>
    verb === "GREETING" ? `${MANY_EMPTY_LINES}220 raw.test` : undefined,
  );
  await became("down");
  expect(channel.status().reason).toStartWith("smtp.connect: ");
});

test("a few empty lines between replies are passed over", async () => {
  const { channel, became } = await relay((verb) => (verb === "MAIL" ? "\r\n\r\n250 ok\r\n" : undefined));
  await became("up");
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});
