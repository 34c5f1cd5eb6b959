/** How many connections there are to a relay, which of them it still serves, and that none is left open. */
import { expect, test } from "bun:test";
import { getEventListeners } from "node:events";
import type { RawScript } from "../../../../test/fakes/fake-smtp.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import {
  openSmtpRelay,
  outgoingEmail,
  smtpConnector,
  withRelays,
} from "../../../../test/fakes/smtp-relay.ts";
import type { ChannelDeps } from "../../channel.ts";

const NEVER = new AbortController().signal;

const { fake, raw, closeLater } = withRelays();

async function upRelay(port: number, deps: Partial<ChannelDeps> = {}) {
  const opened = openSmtpRelay(smtpConnector(port, { max_connections: 5, idle_timeout_ms: 600_000 }), deps);
  closeLater(opened.channel.stop);
  await opened.became("up");
  return opened;
}

/** A server whose step (`DOT 1`: the message of the first connection) waits, or is answered, as the test says. */
async function heldServer(answers: Readonly<Record<string, string>> = {}) {
  const holds = new Map<string, PromiseWithResolvers<void>>();
  const reached = new Map<string, PromiseWithResolvers<void>>();
  const at = (map: typeof holds, step: string) => {
    const known = map.get(step) ?? Promise.withResolvers<void>();
    map.set(step, known);
    return known;
  };
  const script: RawScript = async (verb, _, connection) => {
    const step = `${verb} ${connection}`;
    at(reached, step).resolve();
    await holds.get(step)?.promise;
    const lastWords = answers[step];
    return lastWords === undefined ? undefined : { lastWords };
  };
  const server = await raw(script);
  return {
    ...server,
    hold: (...steps: string[]) => steps.forEach((step) => void at(holds, step)),
    release: (step: string) => at(holds, step).resolve(),
    reached: (...steps: string[]) => Promise.all(steps.map((step) => at(reached, step).promise)),
  };
}

test("a relay that has closed its idle connections and answers 421 is down", async () => {
  const server = await fake();
  const { channel } = await upRelay(server.port);
  const hold = Promise.withResolvers<void>();
  server.dial.holdMessage = hold.promise;
  const both = [channel.send(outgoingEmail(), NEVER), channel.send(outgoingEmail(), NEVER)];
  await server.openConnections(2);
  hold.resolve();
  await Promise.all(both);
  server.dial.greeting = { code: 421, text: "4.3.2 shutting down" };
  server.hangUp();
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("deferred");
  expect([channel.status().state, channel.freeSlots()]).toEqual(["down", 0]);
});

test("a 421 leaves as many connections as the relay serves, in use and idle together", async () => {
  const server = await heldServer({ "GREETING 4": "421 4.7.0 too many" });
  server.hold("DOT 1", "DOT 2", "DOT 3", "GREETING 4");
  const { channel, clock } = await upRelay(server.port);
  const [first, ...others] = [1, 2, 3].map(() => channel.send(outgoingEmail(), NEVER));
  await server.reached("DOT 1", "DOT 2", "DOT 3");
  const fourth = channel.send(outgoingEmail(), NEVER);
  await server.reached("GREETING 4");
  server.release("DOT 1");
  await Promise.race([first, ...others]);
  server.release("GREETING 4");
  expect((await fourth).parts[0]?.kind).toBe("deferred");
  // Three at once are served, and two of them are in use.
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 1]);
  server.release("DOT 2");
  server.release("DOT 3");
  await Promise.all([first, ...others]);
  await channel.stop();
  expect(clock.pending()).toBe(0);
});

test("a relay that refuses a connection with anything else is down, and closed once it has answered the others", async () => {
  const server = await heldServer({ "GREETING 2": "554 5.3.2 not today" });
  server.hold("DOT 1");
  const { channel } = await upRelay(server.port);
  const first = channel.send(outgoingEmail(), NEVER);
  await server.reached("DOT 1");
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("deferred");
  expect([channel.status().state, channel.freeSlots()]).toEqual(["down", 0]);
  server.release("DOT 1");
  expect((await first).parts[0]?.kind).toBe("sent");
  await server.heard("QUIT");
});

test("a connection that is being said goodbye to carries no more messages", async () => {
  const server = await heldServer();
  server.hold("QUIT 1");
  const { channel, clock } = await upRelay(server.port);
  await clock.advance(600_000);
  await server.reached("QUIT 1");
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
  expect(server.connections()).toBe(2);
  server.release("QUIT 1");
});

test("a message that is called off while its connection is being opened says nothing about the relay", async () => {
  const server = await heldServer();
  server.hold("DOT 1", "GREETING 2");
  const { channel } = await upRelay(server.port);
  const first = channel.send(outgoingEmail(), NEVER);
  await server.reached("DOT 1");
  const calledOff = new AbortController();
  const second = channel.send(outgoingEmail(), calledOff.signal);
  await server.reached("GREETING 2");
  calledOff.abort();
  expect(await second).toMatchObject({ parts: [{ kind: "deferred" }], countsAsAttempt: false });
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 4]);
  server.release("DOT 1");
  expect((await first).parts[0]?.kind).toBe("sent");
});

test("a relay that was down serves all connections again, whatever it refused before", async () => {
  const server = await heldServer({
    "GREETING 2": "421 4.7.0 too many",
    "GREETING 3": "554 5.3.2 not today",
  });
  server.hold("DOT 1");
  const { channel, clock, became } = await upRelay(server.port);
  const first = channel.send(outgoingEmail(), NEVER);
  await server.reached("DOT 1");
  await channel.send(outgoingEmail(), NEVER);
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(30_000);
  expect(channel.freeSlots()).toBe(1);
  await channel.send(outgoingEmail(), NEVER);
  expect(channel.status().state).toBe("down");
  server.release("DOT 1");
  await first;
  await clock.advance(1_000);
  await became("up");
  expect(channel.freeSlots()).toBe(5);
});

test("a connection whose relay cannot take the address is used for the next message", async () => {
  const server = await fake({ smtpUtf8: false });
  const { channel } = await upRelay(server.port);
  const abroad = outgoingEmail({ to: [{ email: "jörg@example.test" }] });
  expect((await channel.send(abroad, NEVER)).parts).toMatchObject([
    { kind: "rejected", error: { code: "smtp.smtputf8" } },
  ]);
  expect((await channel.send(outgoingEmail(), NEVER)).parts[0]?.kind).toBe("sent");
  expect(server.connections()).toBe(1);
});

test("a relay is tried once at a time, whatever the messages under way meet meanwhile", async () => {
  const refusal = "554 5.3.2 not today";
  const server = await heldServer({
    "GREETING 2": refusal,
    "MAIL 1": "421 4.3.2 closing",
    "GREETING 4": refusal,
  });
  server.hold("MAIL 1", "GREETING 3");
  const { channel, clock, became } = await upRelay(server.port);
  const first = channel.send(outgoingEmail(), NEVER);
  await server.reached("MAIL 1");
  await channel.send(outgoingEmail(), NEVER);
  await clock.advance(1_000);
  await server.reached("GREETING 3");
  server.release("MAIL 1");
  expect((await first).parts[0]?.kind).toBe("deferred");
  await clock.advance(60_000);
  expect([channel.status().state, server.connections()]).toEqual(["connecting", 4]);
  server.release("GREETING 3");
  await became("up");
});

test("a relay that is being tried again while the channel stops is left at once", async () => {
  const server = await heldServer({ "GREETING 2": "554 5.3.2 not today" });
  server.hold("DOT 1", "GREETING 3");
  const { channel, clock } = await upRelay(server.port);
  const first = channel.send(outgoingEmail(), NEVER);
  await server.reached("DOT 1");
  await channel.send(outgoingEmail(), NEVER);
  await clock.advance(1_000);
  await server.reached("GREETING 3");
  const stopping = channel.stop();
  await server.openConnections(1);
  server.release("DOT 1");
  expect((await first).parts[0]?.kind).toBe("sent");
  await stopping;
  expect(clock.pending()).toBe(0);
});

test("whoever waits for a slot is told when one comes free", async () => {
  const server = await heldServer();
  server.hold("DOT 1");
  let told = 0;
  const { channel } = await upRelay(server.port, { onSlots: () => void told++ });
  expect(told).toBe(1);
  const sending = channel.send(outgoingEmail(), NEVER);
  await server.reached("DOT 1");
  const before = told;
  server.release("DOT 1");
  await sending;
  expect([told - before, channel.freeSlots()]).toEqual([1, 5]);
});

test("a server that never answers QUIT does not keep us longer than two seconds", async () => {
  const quit = Promise.withResolvers<void>();
  const peer = await startRawPeer((socket) => {
    socket.write("220 hello\r\n");
    socket.on("data", (line) => (/^QUIT/.test(String(line)) ? quit.resolve() : socket.write("250 ok\r\n")));
  });
  const { channel, clock } = await upRelay(peer.port);
  let isStopped = false;
  const stopping = channel.stop().then(() => {
    isStopped = true;
  });
  await quit.promise;
  await clock.advance(1_999);
  expect(isStopped).toBe(false);
  await clock.advance(1);
  await stopping;
  await peer.stop();
  expect(clock.pending()).toBe(0);
});

test("an attempt that a bug ends leaves no timer and no listener behind", async () => {
  const server = await fake();
  let isBroken = false;
  const onSlots = () => {
    if (isBroken) throw new Error("a bug");
  };
  const { channel, clock } = await upRelay(server.port, { onSlots });
  const { signal } = new AbortController();
  const before = clock.pending();
  isBroken = true;
  await expect(channel.send(outgoingEmail(), signal)).rejects.toThrow("a bug");
  isBroken = false;
  expect([getEventListeners(signal, "abort").length, clock.pending()]).toEqual([0, before]);
});
