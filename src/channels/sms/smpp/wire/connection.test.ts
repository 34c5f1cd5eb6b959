import { expect, test } from "bun:test";
import * as net from "node:net";
import * as tls from "node:tls";
import { createHeldClock } from "../../../../../test/fakes/held-clock.ts";
import { testTls } from "../../../../../test/fakes/test-tls.ts";
import { until } from "../../../../../test/until.ts";
import type { Resolve } from "../../../lookup-in-turn.ts";
import { openConnection } from "./connection.ts";
import { COMMAND, encodePdu, HEADER_OCTETS } from "./pdu.ts";

async function openTo(
  onConnection: (socket: net.Socket) => void,
  { isSecure = false, onPdu = () => {} } = {},
) {
  const server = isSecure
    ? tls.createServer({ key: testTls.key, cert: testTls.cert }, onConnection)
    : net.createServer(onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as net.AddressInfo;
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<string>();
  const target = {
    host: "127.0.0.1",
    port,
    connectTimeoutMs: 1000,
    ...(isSecure ? { tls: { ca: testTls.ca, isVerified: true } } : {}),
  };
  const clock = createHeldClock();
  const connection = openConnection(target, clock, {
    onOpen: opened.resolve,
    onPdu,
    onBrokenFrame() {},
    onClosed: closed.resolve,
  });
  return { connection, clock, server, opened: opened.promise, closed: closed.promise };
}

test.each([false, true])(
  "a peer that does not read is left, and what had not gone out is never called written (TLS: %p)",
  async (isSecure) => {
    const peers: net.Socket[] = [];
    const { connection, server, opened, closed } = await openTo(
      (socket) => {
        socket.on("error", () => {});
        socket.pause();
        peers.push(socket);
      },
      { isSecure },
    );
    await opened;
    let isClosed = false;
    void closed.then(() => {
      isClosed = true;
    });
    const frame = Buffer.alloc(64 * 1024, 1);
    let given = 0;
    let written = 0;
    const give = () => {
      if (isClosed) return true;
      connection.write(frame, () => written++);
      given++;
      return false;
    };
    await until(give, Boolean, { pauseMs: 0 });
    expect(await closed).toBe("the SMSC does not read what it is sent");
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(given);
    for (const peer of peers) peer.destroy();
    server.close();
  },
);

test("of frames that went out in part, those that the peer has are called written when it hangs up", async () => {
  const frame = Buffer.alloc(64 * 1024, 1);
  let received = 0;
  const { connection, server, opened, closed } = await openTo((socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      received += chunk.length;
      if (received > 2 * frame.length) socket.resetAndDestroy();
    });
  });
  await opened;
  let written = 0;
  // More than a socket takes at a time.
  for (let i = 0; i < 500; i++) connection.write(frame, () => written++);
  let writtenBefore = -1;
  await closed.then(() => {
    writtenBefore = written;
  });
  expect(writtenBefore).toBeGreaterThanOrEqual(2);
  server.close();
});

test("what waited behind a frame begins to go once that has gone, so all of it may be with a peer that then hangs up", async () => {
  const peers: net.Socket[] = [];
  const { connection, server, opened, closed } = await openTo((socket) => {
    socket.on("error", () => {});
    socket.pause();
    peers.push(socket);
  });
  await opened;
  const frame = Buffer.alloc(64 * 1024, 1);
  let given = 0;
  let written = 0;
  let lastGone = 0;
  let onGone = () => {
    lastGone = given;
  };
  const give = () => {
    given++;
    connection.write(frame, () => {
      written++;
      onGone();
    });
  };
  const giveInTurns = () => {
    give();
    return given - lastGone > 8;
  };
  await until(giveInTurns, Boolean, { pauseMs: 0 });
  // More than a socket takes at a time, in one write.
  for (let i = 0; i < 300; i++) give();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBeLessThan(given - 300);
  onGone = () => peers[0]?.resetAndDestroy();
  peers[0]?.resume();
  await closed;
  expect(written).toBe(given);
  server.close();
});

test("a storm of PDUs lets everybody else have a turn in between", async () => {
  const storm = Buffer.alloc(4 * 1024 * 1024, encodePdu({ commandId: COMMAND.enquireLink, sequence: 1 }));
  const all = Promise.withResolvers<void>();
  let left = storm.length;
  let inTurn = 0;
  let most = 0;
  const endTurn = () => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (left === 0) all.resolve();
  };
  const onPdu = () => {
    if (inTurn === 0) setImmediate(endTurn);
    inTurn += HEADER_OCTETS;
    left -= HEADER_OCTETS;
  };
  const { connection, server } = await openTo((socket) => void socket.write(storm), { onPdu });
  await all.promise;
  expect(most).toBeLessThanOrEqual(READ_OCTETS);
  connection.destroy("done");
  server.close();
});

/** The runtime reads at most this at a time. */
const READ_OCTETS = 512 * 1024;

test("a connection nobody completes is given up", async () => {
  // A server that never speaks TLS: the handshake hangs.
  const plain = net.createServer((socket) => void socket.on("error", () => {}));
  await new Promise<void>((resolve) => plain.listen(0, "127.0.0.1", resolve));
  const clock = createHeldClock();
  const closed = Promise.withResolvers<string>();
  const greeted = new Promise((resolve) => {
    plain.once("connection", (socket) => socket.once("data", resolve));
  });
  openConnection(
    {
      host: "127.0.0.1",
      port: (plain.address() as net.AddressInfo).port,
      connectTimeoutMs: 1000,
      tls: { isVerified: true },
    },
    clock,
    { onOpen() {}, onPdu() {}, onBrokenFrame() {}, onClosed: closed.resolve },
  );
  await greeted;
  await clock.advance(1000);
  expect(await closed.promise).toStartWith("the TLS handshake took too long");
  expect(clock.pending()).toBe(0);
  plain.close();
});

test("a refused connection says so, once, and leaves no timer behind", async () => {
  const reasons: string[] = [];
  const closed = Promise.withResolvers<void>();
  const clock = createHeldClock();
  // Nobody is given this one, as any that was closed might be.
  openConnection({ host: "127.0.0.1", port: 1, connectTimeoutMs: 1000 }, clock, {
    onOpen() {},
    onPdu() {},
    onBrokenFrame() {},
    onClosed(reason) {
      reasons.push(reason);
      closed.resolve();
    },
  });
  await closed.promise;
  expect(clock.pending()).toBe(0);
  await clock.advance(2000);
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toMatch(/refused|connect/i);
});

test("end closes within a second even if the peer keeps its side open", async () => {
  const peers: net.Socket[] = [];
  const { connection, clock, server, opened, closed } = await openTo((socket) => {
    socket.on("error", () => {});
    peers.push(socket);
  });
  await opened;
  connection.end("goodbye");
  await clock.advance(1000);
  expect(await closed).toBe("goodbye");
  for (const peer of peers) peer.destroy();
  server.close();
});

test.each([false, true])(
  "a name with several addresses is connected to at the one whose turn it is (TLS: %p)",
  async (isSecure) => {
    const names = [2, 3, 4].map((n) => `127.0.0.${n}`);
    const reached = Promise.withResolvers<string | undefined>();
    const server = net.createServer((socket) => {
      reached.resolve(socket.localAddress);
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const { port } = server.address() as net.AddressInfo;
    const target = {
      host: "smsc.example",
      port,
      connectTimeoutMs: 1000,
      turn: 4,
      ...(isSecure && { tls: { ca: testTls.ca, isVerified: true } }),
      resolve: (_host: string, _options: object, done: Parameters<Resolve>[2]) =>
        done(
          null,
          names.map((address) => ({ address, family: 4 })),
        ),
    };
    const events = { onOpen() {}, onPdu() {}, onBrokenFrame() {}, onClosed() {} };
    const connection = openConnection(target, createHeldClock(), events);
    expect(await reached.promise).toBe("127.0.0.3");
    connection.destroy("done");
    server.close();
  },
);
