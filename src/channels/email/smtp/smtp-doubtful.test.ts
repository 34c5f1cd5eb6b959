/**
 * Replies whose lines have different codes (RFC 5321 §4.2.1 wants the same in each), or that have no code of three digits (§4.2):
 * odd relays, or filters in front of them.
 */
import { expect, test } from "bun:test";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const REASON = "the lines of the server's reply contradict one another";
const NO_CODE = "the server's reply has no code of three digits";

const { raw, upRelay } = withRelays();

/** A server that gives this reply to the first command of that sort. */
function odd(verb: string, reply: string) {
  let isGiven = false;
  return raw((heard) => {
    if (heard !== verb || isGiven) return undefined;
    isGiven = true;
    return reply;
  });
}

test.each([
  ["yes first", "250-2.0.0 queued\r\n554 5.7.1 refused", "554 5.7.1 refused"],
  ["no first", "554-5.7.1 refused\r\n250 2.0.0 queued", "250 2.0.0 queued"],
  ["no in the middle", "250-2.0.0 one moment\r\n451-4.3.0 later\r\n250 2.0.0 queued", "250 2.0.0 queued"],
])("an email whose answer says yes and no, %s, is unconfirmed", async (_, reply, last) => {
  const server = await odd("DOT", reply);
  const { channel } = await upRelay(server.port);
  const { parts, countsAsAttempt } = await channel.send(outgoingEmail(), NEVER);
  expect(parts).toMatchObject([
    { kind: "unconfirmed", error: { message: `${REASON}, and end with ${last}` } },
  ]);
  expect(countsAsAttempt).toBe(true);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect(server.connections()).toBe(2);
});

test.each([
  ["RCPT", "250-2.1.5 ok\r\n550 5.1.1 unknown"],
  ["RCPT", "550-5.1.1 unknown\r\n250 2.1.5 ok"],
  ["DATA", "354-go on\r\n554 5.5.1 no"],
])("before the message, to %s (%j), it is tried again, and nobody has bounced", async (verb, reply) => {
  const server = await odd(verb, reply);
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail(), NEVER);
  expect(parts).toMatchObject([{ kind: "deferred", error: { code: "smtp.connection_lost" } }]);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});

test.each(["2OK", "2", "25 ok", "2500 ok", "5 no", "55", "queued"])(
  "an email that is answered by %p, without a code of three digits, is unconfirmed",
  async (reply) => {
    const server = await odd("DOT", reply);
    const { channel } = await upRelay(server.port);
    const { parts } = await channel.send(outgoingEmail(), NEVER);
    expect(parts).toMatchObject([{ kind: "unconfirmed", error: { message: NO_CODE } }]);
    expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  },
);

test.each(["RCPT", "DATA"])("before the message, in answer to %s, no code refuses nobody", async (verb) => {
  const server = await odd(verb, "5 no");
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail(), NEVER);
  expect(parts).toMatchObject([{ kind: "deferred", error: { message: NO_CODE } }]);
});

test.each(["250", "250ok", "250\t2.0.0 ok", "250-2.0.0 ok\r\n250"])("%j is a code", async (reply) => {
  const server = await odd("DOT", reply);
  const { channel } = await upRelay(server.port);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});

test("to the first command of a message it is offered once more, over another connection", async () => {
  const server = await odd("MAIL", "250-2.1.0 ok\r\n550 5.7.1 not you");
  const { channel } = await upRelay(server.port);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect(server.connections()).toBe(2);
});

test("lines with different codes of one kind say the same", async () => {
  const server = await raw((verb) =>
    verb === "RCPT" ? "550-5.1.1 unknown\r\n553 5.1.1 unknown" : undefined,
  );
  const { channel } = await upRelay(server.port);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([
    { kind: "rejected", bounced: true },
  ]);
});
