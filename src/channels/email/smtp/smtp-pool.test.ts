import { expect, test } from "bun:test";
import { startFakeSmtp } from "../../../../test/fakes/fake-smtp.ts";
import { keptPort } from "../../../../test/fakes/kept-port.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;

const { fake, raw, relay, upRelay } = withRelays();

/** A promise and the hand that opens it. */
function gate() {
  let open = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { closed, open };
}

test("messages one after the other go over one connection", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  for (let n = 0; n < 3; n++) await channel.send(outgoingEmail(), NEVER);
  expect(server.received.map(({ connection }) => connection)).toEqual([1, 1, 1]);
});

test("a connection that has carried its share of messages is replaced", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port, { max_messages_per_connection: 2 });
  for (let n = 0; n < 5; n++) await channel.send(outgoingEmail(), NEVER);
  expect(server.received.map(({ connection }) => connection)).toEqual([1, 1, 2, 2, 3]);
  await server.openConnections(1);
});

test("slots are the connections that are left, and a message beyond them is put off at no cost", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port, { max_connections: 2 });
  const hold = gate();
  server.dial.holdMessage = hold.closed;
  expect(channel.freeSlots()).toBe(2);
  const first = channel.send(outgoingEmail(), NEVER);
  expect(channel.freeSlots()).toBe(1);
  const second = channel.send(outgoingEmail(), NEVER);
  expect(channel.freeSlots()).toBe(0);
  const third = await channel.send(outgoingEmail(), NEVER);
  expect(third).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  hold.open();
  expect((await Promise.all([first, second])).map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "sent"]);
  expect(channel.freeSlots()).toBe(2);
  expect(server.connections()).toBe(2);
});

test("one connection more than the relay serves is refused, and the others go on, as many as there are", async () => {
  const hold = gate();
  const bothIn = gate();
  let most = 2;
  let messages = 0;
  const server = await raw(async (verb, _, connection) => {
    if (verb === "GREETING" && connection > most) return { lastWords: "421 4.7.0 too many connections" };
    if (verb === "DOT" && ++messages === 2) bothIn.open();
    if (verb === "DOT") await hold.closed;
    return undefined;
  });
  const { channel, clock } = await upRelay(server.port, { max_connections: 4, idle_timeout_ms: 600_000 });
  const taken = [channel.send(outgoingEmail(), NEVER), channel.send(outgoingEmail(), NEVER)];
  await bothIn.closed;
  expect(await channel.send(outgoingEmail(), NEVER)).toMatchObject({
    parts: [{ kind: "deferred", error: { message: expect.stringContaining("421") } }],
    countsAsAttempt: false,
  });
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 0]);
  hold.open();
  expect((await Promise.all(taken)).map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "sent"]);
  const two = await Promise.all([1, 2].map(() => channel.send(outgoingEmail(), NEVER)));
  expect(two.map(({ parts }) => parts[0]?.kind)).toEqual(["sent", "sent"]);
  expect([server.connections(), channel.freeSlots()]).toEqual([3, 2]);
  most = 100;
  for (const slots of [3, 4, 4]) {
    await clock.advance(30_000);
    expect(channel.freeSlots()).toBe(slots);
  }
});

test("a relay that answers 421 and serves no other connection is down", async () => {
  let isAway = false;
  const server = await raw((verb) =>
    isAway && verb === "GREETING" ? { lastWords: "421 4.3.2 shutting down" } : isAway ? "drop" : undefined,
  );
  const { channel, became, clock } = await upRelay(server.port, { max_connections: 4 });
  isAway = true;
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("deferred");
  await became("down");
  isAway = false;
  await clock.advance(1_000);
  await became("up");
  expect(channel.freeSlots()).toBe(4);
});

test("a connection the server closed while it was idle costs the next message nothing", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  await channel.send(outgoingEmail(), NEVER);
  server.hangUp();
  await server.openConnections(0);
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
  expect(server.received.map(({ connection }) => connection)).toEqual([1, 2]);
  expect(channel.status().state).toBe("up");
});

for (const [what, answer] of [
  ["drops", "drop"],
  ["is closed with 421", "421 4.4.2 idle too long"],
] as const) {
  test(`a used connection that ${what} at MAIL is replaced within the same attempt`, async () => {
    let mails = 0;
    const server = await raw((verb) => (verb === "MAIL" && ++mails === 2 ? answer : undefined));
    const { channel } = await upRelay(server.port);
    expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
    expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
    expect([server.connections(), mails]).toEqual([2, 3]);
  });
}

test("an idle connection is closed with QUIT after its time, and the next message opens another", async () => {
  const server = await fake();
  const { channel, clock } = await upRelay(server.port, { idle_timeout_ms: 5_000 });
  await channel.send(outgoingEmail(), NEVER);
  await clock.advance(5_000);
  await server.openConnections(0);
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 20]);
  await channel.send(outgoingEmail(), NEVER);
  expect(server.received.map(({ connection }) => connection)).toEqual([1, 2]);
});

test("while the host is down nothing is asked for, the pauses grow, and it is found again by itself", async () => {
  const port = await keptPort();
  const { channel, clock, seen, became } = relay(port);
  await became("down");
  expect(channel.freeSlots()).toBe(0);
  expect(channel.status().reason).toStartWith("smtp.connect: ");
  // The pauses with a chance of a half: three quarters of 1 s, 2 s, 4 s.
  for (const pauseMs of [750, 1_500, 3_000]) {
    await clock.advance(pauseMs - 1);
    expect(channel.status().state).toBe("down");
    const since = seen.length;
    await clock.advance(1);
    expect(seen[since]?.state).toBe("connecting");
    await became("down");
  }
  await raw(() => undefined, port);
  await clock.advance(6_000);
  await became("up");
  expect(channel.freeSlots()).toBe(20);
  expect(channel.status().reason).toBeUndefined();
});

test("a host that goes away costs the messages on their way to it no attempt", async () => {
  const server = await startFakeSmtp();
  const { channel } = await upRelay(server.port);
  await server.close();
  const outcomes = await Promise.all([1, 2, 3].map(() => channel.send(outgoingEmail(), NEVER)));
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject({
      parts: [{ kind: "deferred", error: { code: "smtp.connect" } }],
      countsAsAttempt: false,
    });
  }
  expect([channel.status().state, channel.freeSlots()]).toEqual(["down", 0]);
});

for (const [what, answer, reason] of [
  ["greets with 554", "554 5.3.2 not today", "smtp.connect: 554 not today"],
  ["does not greet", "silence", "smtp.timeout: "],
  ["greets with noise", "HTTP/1.1 400 Bad Request", "smtp.connect: "],
  ["hangs up on us", "drop", "smtp.connect: "],
] as const) {
  test(`a host that ${what} is down`, async () => {
    const server = await raw((verb) => (verb === "GREETING" ? answer : undefined));
    const { channel, became } = relay(server.port, answer === "silence" ? { greeting_timeout_ms: 100 } : {});
    await became("down");
    expect(channel.status().reason).toStartWith(reason);
  });
}

test.each([
  ["EHLO, and closes", "EHLO", "554 5.7.1 your address is on a list"],
  [
    "us behind the first line of its greeting",
    "GREETING",
    "220-mail.test ESMTP\r\n521 5.7.1 your address is on a list",
  ],
])("where a host refuses %s, its words are the reason", async (_, where, lastWords) => {
  const server = await raw((verb) => (verb === where ? { lastWords } : undefined));
  const { channel, became } = relay(server.port);
  await became("down");
  expect(channel.status().reason).toContain("your address is on a list");
});

test("a host that refuses EHLO and does not answer HELO is said not to answer", async () => {
  const server = await raw((verb) =>
    verb === "EHLO" ? "502 5.5.1 not implemented" : verb === "HELO" ? "silence" : undefined,
  );
  const { channel, became } = relay(server.port, { response_timeout_ms: 100 });
  await became("down");
  expect(channel.status().reason).toMatch(/^smtp\.timeout: (?!502)/);
});

test("a server that floods us with a reply without end is cut off", async () => {
  const server = await raw((verb) => (verb === "EHLO" ? "250-x".repeat(100_000) : undefined));
  const { channel, became } = relay(server.port);
  await became("down");
  // Not because of a time limit, which would end the connection too.
  expect(channel.status().reason).toContain("exceeds maximum allowed size");
});

test("a message of 10 MiB does not hold up the others", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  await channel.send(outgoingEmail(), NEVER);
  const order: string[] = [];
  const big = channel
    .send(outgoingEmail({ bodyText: "Grüße an alle. ".repeat(700_000) }), NEVER)
    .then(({ parts }) => order.push(`big ${parts[0]?.kind}`));
  for (let n = 0; n < 3; n++) {
    const { parts } = await channel.send(outgoingEmail(), NEVER);
    order.push(`small ${parts[0]?.kind}`);
  }
  await big;
  expect(order).toEqual(["small sent", "small sent", "small sent", "big sent"]);
});

test("stopping waits for the message under way, says goodbye, and takes no more", async () => {
  const server = await fake();
  const { channel, seen } = await upRelay(server.port);
  const hold = gate();
  server.dial.holdMessage = hold.closed;
  const sending = channel.send(outgoingEmail(), NEVER);
  const stopping = channel.stop();
  expect([channel.freeSlots(), channel.status().state]).toEqual([0, "stopped"]);
  expect((await channel.send(outgoingEmail(), NEVER)).countsAsAttempt).toBe(false);
  hold.open();
  expect((await sending).parts[0]?.kind).toBe("sent");
  await stopping;
  await server.openConnections(0);
  expect(seen.at(-1)?.state).toBe("stopped");
});

test("stopping has an end, that of the send: a message that gets no answer is reported unconfirmed", async () => {
  const heard = gate();
  const server = await raw((verb) => {
    if (verb !== "DOT") return undefined;
    heard.open();
    return "silence";
  });
  const { channel, clock } = await upRelay(server.port);
  const sending = channel.send(outgoingEmail(), NEVER);
  await heard.closed;
  const stopping = channel.stop();
  await clock.advance(channel.sendTimeoutMs);
  expect((await sending).parts[0]).toMatchObject({
    kind: "unconfirmed",
    error: { message: "it took too long" },
  });
  await stopping;
  expect(clock.pending()).toBe(0);
});

test("stopping while the host is being tried leaves no connection behind, and no other try", async () => {
  const greeted = gate();
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.once("data", greeted.open);
  });
  const { channel, clock } = relay(peer.port);
  await greeted.closed;
  await channel.stop();
  await peer.stop();
  expect([channel.status().state, clock.pending()]).toEqual(["stopped", 0]);
});
