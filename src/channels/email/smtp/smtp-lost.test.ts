import { expect, test } from "bun:test";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { outgoingEmail, withRelays } from "../../../../test/fakes/smtp-relay.ts";

const NEVER = new AbortController().signal;
const ANN = { email: "ann@example.test" };
const BOB = { email: "bob@example.test" };

const { fake, raw, upRelay } = withRelays();

test("a connection lost after the final dot leaves the accepted recipients unconfirmed", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  server.dial.drop = "after";
  server.dial.rcpt = { [ANN.email]: { code: 550, text: "5.1.1 unknown" } };
  const outcome = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
  expect(outcome.parts).toMatchObject([
    { kind: "rejected", bounced: true },
    { kind: "unconfirmed", error: { code: "smtp.connection_lost" } },
  ]);
  expect(outcome.countsAsAttempt).toBe(true);
});

test("a connection lost in the middle of the message defers it", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  server.dial.drop = "during";
  const outcome = await channel.send(outgoingEmail({ bodyText: "é".repeat(12_000_000) }), NEVER);
  expect(outcome).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
});

test("a connection lost before anything was answered defers the message and counts", async () => {
  const server = await raw((verb) => (verb === "MAIL" ? "drop" : undefined));
  const { channel } = await upRelay(server.port);
  // The first message takes the connection of the probe, and then one of its own.
  const outcome = await channel.send(outgoingEmail(), NEVER);
  expect(outcome).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: true });
  expect(server.connections()).toBe(2);
});

test("what is told of a connection that the server closed names no address", async () => {
  const server = await raw((_, line) =>
    line.includes(BOB.email)
      ? { lastWords: `421-4.3.2 <${ANN.email}> is\r\n421 4.3.2 in the way` }
      : undefined,
  );
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
  expect(parts[0]).toMatchObject({ kind: "deferred", error: { code: "smtp.connection_lost" } });
  const told = JSON.stringify(parts);
  expect(told).toContain("is");
  expect(told).not.toMatch(/ann@|\\n|\\r/);
});

test("a server that refuses a recipient and then closes is believed, and asked once more about the others only", async () => {
  const server = await raw((verb, line) => {
    if (verb === "EHLO") return "250-raw.test\r\n250 PIPELINING";
    if (line.startsWith(`RCPT TO:<${ANN.email}`)) return "550 5.1.1 unknown";
    return verb === "RCPT" ? { lastWords: "421 4.7.0 too many errors" } : undefined;
  });
  const { channel } = await upRelay(server.port);
  // Over the connection of the probe, which might have been dead.
  const { parts } = await channel.send(outgoingEmail({ to: [ANN, BOB] }), NEVER);
  expect(parts).toMatchObject([{ kind: "rejected", bounced: true }, { kind: "deferred" }]);
  expect(server.lines.filter((line) => line.includes(ANN.email))).toHaveLength(1);
  expect(server.connections()).toBe(2);
});

test.each([
  ["with the next recipient", 44, ""],
  ["with the next recipient, and pipelining", 44, "PIPELINING"],
  ["with the last recipient", 21, ""],
  ["with the last recipient, and pipelining", 21, "PIPELINING"],
  ["with the message", 20, ""],
  ["with the message, and pipelining", 20, "PIPELINING"],
])(
  "a server that closes after twenty refusals keeps nobody from those behind, be it %s",
  async (_, putOff, extension) => {
    const refusals = new Map<number, number>();
    const delivered: string[] = [];
    const server = await raw((verb, line, connection) => {
      if (verb === "EHLO") return `250-raw.test\r\n250 ${extension || "HELP"}`;
      const refused = refusals.get(connection) ?? 0;
      if (refused === 20 && (verb === "RCPT" || verb === "DATA"))
        return { lastWords: "421 4.7.0 too many errors" };
      if (verb === "RCPT" && !line.includes("later")) delivered.push(line.slice(9, -1));
      if (verb !== "RCPT" || !line.includes("later")) return undefined;
      refusals.set(connection, refused + 1);
      return "450 4.2.0 greylisted";
    });
    const { channel } = await upRelay(server.port);
    const later = Array.from({ length: putOff }, (_, index) => ({ email: `later${index}@example.test` }));
    const { parts, countsAsAttempt } = await channel.send(outgoingEmail({ to: [BOB, ...later, ANN] }), NEVER);
    expect(parts.at(0)).toMatchObject({ kind: "sent" });
    expect(parts.at(-1)).toMatchObject({ kind: "sent" });
    const others = parts.slice(1, -1);
    expect(others.filter((part) => part?.kind === "deferred" && part.error.code === "4.2.0")).toEqual(others);
    expect(countsAsAttempt).toBe(true);
    expect(delivered.slice(-2)).toEqual([BOB.email, ANN.email]);
    expect(server.connections()).toBe(Math.ceil((putOff + 1) / 20));
  },
);

test("silence after the final dot is unconfirmed when the send timeout has passed", async () => {
  const dot = Promise.withResolvers<void>();
  const server = await raw((verb) => {
    if (verb === "DOT") dot.resolve();
    return verb === "DOT" ? "silence" : undefined;
  });
  const { channel, clock } = await upRelay(server.port);
  const sending = channel.send(outgoingEmail(), NEVER);
  await dot.promise;
  await clock.advance(channel.sendTimeoutMs);
  expect((await sending).parts[0]).toMatchObject({
    kind: "unconfirmed",
    error: { message: "it took too long" },
  });
});

test("a server may take longer over the message than over a command, and the next command has its limit again", async () => {
  let messages = 0;
  const server = await raw(async (verb) => {
    if (verb === "MAIL" && messages > 0) return "silence";
    if (verb !== "DOT") return undefined;
    messages++;
    await Bun.sleep(3_000); // That long it takes.
    return undefined;
  });
  // In real time, since the library keeps it: any other answer is there sooner, on a busy machine too.
  const { channel } = await upRelay(server.port, { response_timeout_ms: 2_000 });
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([
    { kind: "deferred", error: { message: "the server did not answer in time" } },
  ]);
  expect(messages).toBe(1);
});

test("an answer after the final dot that is none of SMTP's is unconfirmed", async () => {
  const server = await raw((verb) => (verb === "DOT" ? "what?" : undefined));
  const { channel } = await upRelay(server.port);
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("unconfirmed");
});

test("a server that refuses in the middle of the message is believed, and the connection is not used again", async () => {
  const big = outgoingEmail({ bodyText: "é".repeat(8_000_000) });
  const server = await raw((verb) => (verb === "DATA" ? "354 go on\r\n552 5.3.4 too big" : undefined));
  const { channel } = await upRelay(server.port);
  expect((await channel.send(big, NEVER)).parts[0]).toMatchObject({
    kind: "rejected",
    error: { code: "5.3.4" },
  });
  await channel.send(outgoingEmail(), NEVER);
  expect(server.connections()).toBe(2);
});

test("a yes before the message is over is not taken for one, and the message is never brought to its end", async () => {
  const ends: number[] = [];
  const server = await raw((verb, _, connection) => {
    if (verb === "DOT") ends.push(connection);
    return verb === "DATA" && connection === 1 ? "354 go on\r\n250 queued as LIE" : undefined;
  });
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail({ bodyText: "é".repeat(8_000_000) }), NEVER);
  expect(parts[0]?.kind).toBe("deferred");
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
  expect(ends).toEqual([2]);
});

test("of a server whose answers are out of step no recipient's is believed", async () => {
  const server = await raw((verb, line, connection) => {
    if (verb === "MAIL" && connection === 1) return "250 ok\r\n250 ok";
    return line.includes(ANN.email) ? "550 5.1.1 unknown" : undefined;
  });
  const { channel } = await upRelay(server.port);
  const email = outgoingEmail({ to: [ANN, BOB] });
  const { parts } = await channel.send(email, NEVER);
  expect(parts).toMatchObject([
    { kind: "deferred", error: { message: "the server's answers are out of step with the commands" } },
    { kind: "deferred" },
  ]);
  expect((await channel.send(email, NEVER)).parts).toMatchObject([
    { kind: "rejected", bounced: true },
    { kind: "sent" },
  ]);
});

test("of a server whose answers are out of step no refusal of the sender is believed either: it answered another command", async () => {
  const server = await raw((verb, _, connection) => {
    if (verb === "EHLO") return "250-raw.test\r\n250 PIPELINING";
    return verb === "MAIL" && connection === 1 ? "550 5.7.1 no\r\n250 ok" : undefined;
  });
  const { channel } = await upRelay(server.port);
  const { parts } = await channel.send(outgoingEmail(), NEVER);
  expect(parts).toMatchObject([
    { kind: "deferred", error: { message: "the server's answers are out of step with the commands" } },
  ]);
  expect((await channel.send(outgoingEmail(), NEVER)).parts).toMatchObject([{ kind: "sent" }]);
});

test("a tarpit that keeps answering a little cannot hold a message longer than the send timeout", async () => {
  const server = await raw((verb) => (verb === "RCPT" ? "250-wait" : undefined));
  const { channel, clock } = await upRelay(server.port, { send_timeout_ms: 60_000 });
  const sending = channel.send(outgoingEmail(), NEVER);
  await server.heard("RCPT");
  await clock.advance(channel.sendTimeoutMs);
  expect(await sending).toMatchObject({
    parts: [{ kind: "deferred", error: { message: "it took too long" } }],
    countsAsAttempt: true,
  });
});

test("a server that is silent from the beginning costs an attempt, also on a connection that was used before", async () => {
  const server = await raw((verb) => (verb === "MAIL" ? "silence" : undefined));
  const { channel, clock } = await upRelay(server.port, { send_timeout_ms: 60_000 });
  const sending = channel.send(outgoingEmail(), NEVER);
  await server.heard("MAIL");
  await clock.advance(channel.sendTimeoutMs);
  expect(await sending).toMatchObject({
    parts: [{ kind: "deferred", error: { message: "it took too long" } }],
    countsAsAttempt: true,
  });
  expect(server.connections()).toBe(1);
});

test.each([
  ["before the message is begun is passed over for a new one", "MAIL", "sent"],
  [
    "after the final dot leaves the message unconfirmed, and it is not sent again",
    "\r\n.\r\n",
    "unconfirmed",
  ],
] as const)("a connection that ends in half a 421 %s", async (_, last, kind) => {
  let connections = 0;
  let messages = 0;
  const peer = await startRawPeer((socket) => {
    const isFirst = ++connections === 1;
    let isMessage = false;
    socket.write("220 hello\r\n");
    socket.on("data", (chunk) => {
      const text = String(chunk);
      if (text.endsWith("\r\n.\r\n")) messages++;
      if (isFirst && text.includes(last)) return void socket.end("421 4.3.2 closing");
      if (isMessage && !text.endsWith("\r\n.\r\n")) return;
      isMessage = text.startsWith("DATA");
      socket.write(isMessage ? "354 go on\r\n" : "250 ok\r\n");
    });
  });
  const { channel } = await upRelay(peer.port);
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe(kind);
  expect(messages).toBe(1);
  await channel.stop();
  await peer.stop();
});

test("an aborted send says what it knows: deferred before the final dot, unconfirmed after it", async () => {
  for (const [stop, kind] of [
    ["RCPT", "deferred"],
    ["DOT", "unconfirmed"],
  ] as const) {
    const abort = new AbortController();
    const server = await raw((verb) => {
      if (verb !== stop) return undefined;
      abort.abort();
      return "silence";
    });
    const { channel } = await upRelay(server.port);
    expect((await channel.send(outgoingEmail(), abort.signal)).parts[0]?.kind).toBe(kind);
  }
});
