import { expect, test } from "bun:test";
import type { RawScript } from "../../../../../test/fakes/fake-smtp.ts";
import { outgoingEmail, withRelays } from "../../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const MANY_EMPTY_LINES = "\r\n".repeat(500_000);

const { raw, relay } = withRelays();

async function relayTo(script: RawScript) {
  const server = await raw(script);
  return relay(server.port, { tls: "none" });
}

test("a server that answers with empty lines without end is hung up on, and the message is tried again", async () => {
  const { channel, became } = await relayTo((verb) =>
    verb === "MAIL" ? `${MANY_EMPTY_LINES}250 ok` : undefined,
  );
  await became("up");
  const outcome = await channel.send(outgoingEmail(), NEVER);
  expect(outcome.parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.connection_lost" } }]);
});

test("a server that greets with empty lines without end is down", async () => {
  const { channel, became } = await relayTo((verb) =>
    verb === "GREETING" ? `${MANY_EMPTY_LINES}220 raw.test` : undefined,
  );
  await became("down");
  expect(channel.status().reason).toStartWith("smtp.connect: ");
});

test("a few empty lines between replies are passed over", async () => {
  const { channel, became } = await relayTo((verb) => (verb === "MAIL" ? "\r\n\r\n250 ok\r\n" : undefined));
  await became("up");
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});
