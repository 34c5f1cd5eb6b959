/** How long a gateway is waited for, how much of its answer is read, and that nothing is left open behind it. */
import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import {
  type FakeGateway,
  type GatewayBehaviour,
  startFakeGateway,
} from "../../../../test/fakes/fake-gateway.ts";
import { ACCEPTED, type HttpRig, never, openPlain, outgoingSms } from "../../../../test/fakes/http-rig.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";

/** How long an answer is waited for, also where the channel stops. */
const ANSWER_MS = 30_000;

/** Octets of an answer. */
const LONGEST = 64 * 1024;

let gateway: FakeGateway | undefined;
let rig: HttpRig | undefined;
afterEach(async () => {
  const stopping = rig?.channel.stop();
  await rig?.clock.advance(ANSWER_MS);
  await gateway?.close();
  await stopping;
  rig = undefined;
  gateway = undefined;
});

function openAt(url: string, config: Record<string, unknown> = {}) {
  rig = openPlain(url, config);
  return rig;
}

async function openAtGateway(behaviour: GatewayBehaviour, config: Record<string, unknown> = {}) {
  gateway = await startFakeGateway(behaviour);
  return { gateway, ...openAt(gateway.url, config) };
}

/** A peer whose first connection the test waits for. */
async function startPeer(speak: (socket: Socket) => void) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const peer = await startRawPeer((socket) => {
    speak(socket);
    resolve();
  });
  return { ...peer, connected: promise };
}

test("a gateway that begins no TLS in time was sent nothing, and its connection is closed", async () => {
  const peer = await startPeer(() => {});
  const { channel, clock } = openAt(`https://127.0.0.1:${peer.port}`, { connect_timeout_ms: 3_000 });
  const sending = channel.send(outgoingSms(), never);
  await peer.connected;
  await clock.advance(2_999);
  expect(await Promise.race([sending, Promise.resolve("waits")])).toBe("waits");
  await clock.advance(1);
  expect(await sending).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.not_connected", message: "no connection in time" } }],
    countsAsAttempt: false,
  });
  await peer.stop();
});

test("an answer may come later than a connection, up to the limit of its own", async () => {
  const { gateway, channel, clock } = await openAtGateway("silent");
  const sending = channel.send(outgoingSms(), never);
  await gateway.whenRequests(1);
  await clock.advance(ANSWER_MS - 1);
  gateway.release(ACCEPTED);
  expect((await sending).parts[0]?.kind).toBe("sent");
  expect(clock.pending()).toBe(0);
});

test("a connection whose answer does not come in time is closed, and makes room for another", async () => {
  const { gateway, channel, clock } = await openAtGateway("silent", { max_in_flight: 1 });
  const sending = channel.send(outgoingSms(), never);
  await gateway.whenRequests(1);
  await clock.advance(ANSWER_MS);
  expect((await sending).parts).toMatchObject([
    { kind: "unconfirmed", error: { code: "http.no_answer", message: "no answer in time" } },
  ]);
  gateway.behave(ACCEPTED);
  expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("sent");
  expect(gateway.connections()).toBe(2);
});

test("an idle connection is closed before servers close theirs, some of which do so after two seconds", async () => {
  let closed = Promise.withResolvers<number>();
  const peer = await startPeer((socket) => {
    let answeredAt = 0;
    socket.on("end", () => closed.resolve(performance.now() - answeredAt));
    socket.once("data", () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"id":"a-1"}');
      answeredAt = performance.now();
    });
  });
  const { channel } = openAt(`http://127.0.0.1:${peer.port}`);
  let openMs = Number.POSITIVE_INFINITY;
  // A busy machine may be late, but hardly each time.
  for (let tried = 0; openMs > 2_000 && tried < TRIES; tried++) {
    closed = Promise.withResolvers();
    await channel.send(outgoingSms(), never);
    openMs = Math.min(openMs, await closed.promise);
  }
  expect(openMs).toBeLessThan(2_000);
  await peer.stop();
});

const TRIES = 10;

test("64 KiB of an answer are read, and not an octet more", async () => {
  const ofLength = (octets: number) => ({ status: 200, body: '{"id":"a"}'.padStart(octets) });
  const { gateway, channel } = await openAtGateway(ofLength(LONGEST));
  expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("sent");
  gateway.behave(ofLength(LONGEST + 1));
  expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("unconfirmed");
});

test("an answer that never ends is read no further than its first 64 KiB, and its connection is closed", async () => {
  const peer = await startPeer((socket) => {
    const pour = () => {
      while (socket.writable && socket.write("x".repeat(16_384)));
    };
    socket.once("data", () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"id":"');
      pour();
    });
    socket.on("drain", pour);
  });
  const { channel } = openAt(`http://127.0.0.1:${peer.port}`);
  expect((await channel.send(outgoingSms(), never)).parts).toMatchObject([
    { kind: "unconfirmed", error: { code: "http.unreadable_answer" } },
  ]);
  await peer.stop();
});

test.each(["100 Continue", "103 Early Hints"])(
  "interim answers without end (%s) are hung up on, and a hundred are passed over",
  async (interim) => {
    const interims = `HTTP/1.1 ${interim}\r\n\r\n`.repeat(100);
    const peer = await startPeer((socket) => {
      const flood = () => {
        while (socket.writable && socket.write(interims));
      };
      socket.once("data", () => {
        socket.write(`${interims}HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"id":"a"}`);
        socket.once("data", flood);
      });
      socket.on("drain", flood);
    });
    const { channel } = openAt(`http://127.0.0.1:${peer.port}`);
    expect((await channel.send(outgoingSms(), never)).parts[0]?.kind).toBe("sent");
    expect((await channel.send(outgoingSms(), never)).parts).toMatchObject([
      {
        kind: "unconfirmed",
        error: { code: "http.no_answer", message: "interim answers (1xx) without end" },
      },
    ]);
    await peer.stop();
  },
);

test("stopping waits for the answer under way as long as any answer: other settings make no message doubtful", async () => {
  const { gateway, channel, clock, statuses } = await openAtGateway("silent");
  const sending = channel.send(outgoingSms(), never);
  await gateway.whenRequests(1);
  const stopping = channel.stop();
  expect(channel.freeSlots()).toBe(0);
  await clock.advance(ANSWER_MS - 1);
  gateway.release(ACCEPTED);
  expect((await sending).parts[0]?.kind).toBe("sent");
  await stopping;
  expect(clock.pending()).toBe(0);
  expect(statuses.map(({ state }) => state)).toEqual(["up", "stopped"]);
});

test("stopping has an end: an answer that does not come in time is waited for no longer", async () => {
  const { gateway, channel, clock, statuses } = await openAtGateway("silent");
  const sending = channel.send(outgoingSms(), never);
  await gateway.whenRequests(1);
  const stopping = channel.stop();
  await clock.advance(ANSWER_MS);
  expect((await sending).parts).toMatchObject([
    { kind: "unconfirmed", error: { message: "no answer in time" } },
  ]);
  await stopping;
  expect(clock.pending()).toBe(0);
  expect(statuses.at(-1)?.state).toBe("stopped");
});

test("stopping ends with what is called off, since a process that ends has no time for more", async () => {
  const { gateway, channel, clock } = await openAtGateway("silent");
  const calledOff = new AbortController();
  const sending = channel.send(outgoingSms(), calledOff.signal);
  await gateway.whenRequests(1);
  const stopping = channel.stop();
  calledOff.abort();
  expect((await sending).parts).toMatchObject([
    { kind: "unconfirmed", error: { message: "cut off before the answer came" } },
  ]);
  await stopping;
  expect(clock.pending()).toBe(0);
});

test("an answer that has begun when the channel stops counts as far as it came, and the channel stays stopped", async () => {
  const begun = Promise.withResolvers<void>();
  const lengths = [1000, 12];
  const peer = await startPeer((socket) =>
    socket.once("data", () => {
      const head = `HTTP/1.1 200 OK\r\nContent-Length: ${lengths.shift()}\r\n\r\n`;
      socket.write(`${head}{"id":"a-1"}`, () => begun.resolve());
    }),
  );
  const { channel, clock, statuses } = openAt(`http://127.0.0.1:${peer.port}`);
  const sending = channel.send(outgoingSms(), never);
  await begun.promise;
  // A whole exchange later, what came of the first answer has been read.
  await channel.send(outgoingSms(), never);
  const stopping = channel.stop();
  await clock.advance(ANSWER_MS);
  await stopping;
  expect((await sending).parts).toMatchObject([{ kind: "sent", providerMessageIds: ["a-1"] }]);
  expect(statuses.map(({ state }) => state)).toEqual(["up", "stopped"]);
  await peer.stop();
});

test("a message that is called off before it is written is put off, and says nothing about the gateway", async () => {
  const peer = await startPeer(() => {});
  const { channel } = openAt(`https://127.0.0.1:${peer.port}`);
  const calledOff = new AbortController();
  const sending = channel.send(outgoingSms(), calledOff.signal);
  await peer.connected;
  calledOff.abort();
  expect(await sending).toMatchObject({
    parts: [{ kind: "deferred", error: { code: "http.cut_off" } }],
    countsAsAttempt: false,
  });
  expect([channel.status().state, channel.freeSlots()]).toEqual(["up", 20]);
  await peer.stop();
});

test("whoever waits for a place is told when one comes free", async () => {
  const { channel, slotsTold } = await openAtGateway(ACCEPTED, { max_in_flight: 1 });
  expect(slotsTold()).toBe(1);
  await channel.send(outgoingSms(), never);
  expect([slotsTold(), channel.freeSlots()]).toEqual([2, 1]);
});

test("a gateway that closes a connection under a request gets each of the next on a connection of its own", async () => {
  let connections = 0;
  const peer = await startPeer((socket) => {
    connections++;
    socket.once("data", () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"id":"a-1"}');
      socket.once("data", () => socket.destroy());
    });
  });
  const { channel, clock } = openAt(`http://127.0.0.1:${peer.port}`);
  const sendAll = async (count: number) => {
    const kinds = [];
    for (let n = 0; n < count; n++) kinds.push((await channel.send(outgoingSms(), never)).parts[0]?.kind);
    return kinds;
  };
  expect(await sendAll(4)).toEqual(["sent", "unconfirmed", "sent", "sent"]);
  expect(connections).toBe(3);
  // It is tried again, and after each time that it fails it rests twice as long.
  await clock.advance(60_000);
  expect(await sendAll(3)).toEqual(["sent", "unconfirmed", "sent"]);
  await clock.advance(119_000);
  expect(await sendAll(2)).toEqual(["sent", "sent"]);
  await clock.advance(1_000);
  expect(await sendAll(2)).toEqual(["sent", "unconfirmed"]);
  await clock.advance(239_000);
  expect(await sendAll(2)).toEqual(["sent", "sent"]);
  // Once it has gone well for a day, it rests no longer than the first time.
  await clock.advance(26 * 3_600_000);
  expect(await sendAll(2)).toEqual(["sent", "unconfirmed"]);
  await clock.advance(60_000);
  expect(await sendAll(2)).toEqual(["sent", "unconfirmed"]);
  await peer.stop();
});

test("a message that a bug keeps from being sent leaves its place to the others, and they are told", async () => {
  const { channel, slotsTold } = await openAtGateway(ACCEPTED, { max_in_flight: 1 });
  const told = slotsTold();
  const broken = { ...outgoingSms(), content: null } as unknown as ReturnType<typeof outgoingSms>;
  await expect(channel.send(broken, never)).rejects.toThrow();
  expect([channel.freeSlots(), slotsTold()]).toEqual([1, told + 1]);
  expect(await channel.send(outgoingSms(), never)).toMatchObject({ parts: [{ kind: "sent" }] });
});

test("a message with nothing left to send leaves its place to the others, and they are told", async () => {
  const { channel, slotsTold } = await openAtGateway(ACCEPTED, { max_in_flight: 1 });
  const told = slotsTold();
  const { parts } = await channel.send({ ...outgoingSms(), only: [] }, never);
  expect([parts.filter(Boolean), channel.freeSlots(), slotsTold()]).toEqual([[], 1, told + 1]);
});
