import { afterEach, expect, test } from "bun:test";
import * as net from "node:net";
import { createHeldClock } from "../../test/fakes/held-clock.ts";
import { lookupInTurn } from "./lookup-in-turn.ts";
import { createCredentialGate } from "./sms/smpp/session/credential-gate.ts";
import { keepBound, type LinkDeps } from "./sms/smpp/session/keep-bound.ts";
import { createRivals } from "./sms/smpp/session/rivals.ts";
import type { Session } from "./sms/smpp/session/session.ts";
import { openConnection } from "./sms/smpp/wire/connection.ts";

const servers: net.Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** Servers on one port of several addresses. */
async function listen(...addresses: readonly string[]): Promise<number> {
  let port = 0;
  for (const address of addresses) {
    const server = net.createServer((socket) => socket.resume());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(port, address, resolve));
    ({ port } = server.address() as net.AddressInfo);
  }
  return port;
}

/** The address that a name with these is reached at. */
function reached(port: number, turn: number, addresses: readonly string[]): Promise<string | undefined> {
  const found = addresses.map((address) => ({ address, family: 4 }));
  const lookup = lookupInTurn(turn, (_host, _options, done) => done(null, found));
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: "smsc.example", port, lookup });
    socket.once("error", reject);
    socket.once("connect", () => {
      resolve(socket.remoteAddress);
      socket.destroy();
    });
  });
}

test("each turn begins with another address, and passes over one that refuses", async () => {
  const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
  const port = await listen("127.0.0.2", "127.0.0.3");
  const turns = [0, 1, 2, 3, 4].map((turn) => reached(port, turn, addresses));
  expect(await Promise.all(turns)).toEqual(["127.0.0.2", "127.0.0.3", "127.0.0.2", "127.0.0.2", "127.0.0.3"]);
});

test("where every address of a name refuses, the reason names each of them", async () => {
  const port = await listen("127.0.0.2");
  const addresses = ["127.0.0.8", "127.0.0.9"];
  const found = addresses.map((address) => ({ address, family: 4 }));
  const reason = await new Promise<string>((onClosed) =>
    openConnection(
      {
        host: "smsc.example",
        port,
        connectTimeoutMs: 1000,
        resolve: (_host, _options, done) => done(null, found),
      },
      createHeldClock(),
      { onOpen() {}, onPdu() {}, onBrokenFrame() {}, onClosed },
    ),
  );
  expect(reason).toBe(addresses.map((each) => `connect ECONNREFUSED ${each}:${port}`).join(", "));
});

test("a name that is not found is an error, whatever the turn", async () => {
  const lookup = lookupInTurn(3, (host, _options, done) => done(new Error(`no ${host}`), []));
  const socket = net.connect({ host: "gone.example", port: 1, lookup });
  const error = await new Promise<Error>((resolve) => socket.once("error", resolve));
  expect(error.message).toContain("gone.example");
});

test("after each session that was lost, or that did not come about, it is the next address's turn", async () => {
  const clock = createHeldClock();
  const turns: number[] = [];
  let last: Parameters<LinkDeps["open"]>[0] | undefined;
  const link = keepBound({
    clock,
    random: () => 1,
    open(events, turn) {
      turns.push(turn);
      last = events;
      return {} as Session;
    },
    onStatus() {},
    gate: createCredentialGate(clock),
    rivals: createRivals(clock),
    nobodyWaits: async () => {},
  });
  const lose = async (waitMs: number) => {
    last?.onEnd({ reason: "lost", isCredentialFault: false });
    await clock.advance(waitMs);
  };
  link.start();
  await lose(1000);
  await lose(2000);
  last?.onBound({} as Session);
  await clock.advance(60_000);
  await lose(1000);
  expect(turns).toEqual([0, 1, 2, 3]);
});

test("whoever asks for one address gets the one whose turn it is, and what else was asked for is passed on", () => {
  const asked: unknown[] = [];
  const found = ["127.0.0.2", "127.0.0.3", "127.0.0.4"].map((address) => ({ address, family: 4 }));
  const lookup = lookupInTurn(4, (host, options, done) => {
    asked.push(host, options);
    done(null, found);
  });
  const answers: unknown[] = [];
  lookup("smsc.example", { family: 4 }, (...answer) => answers.push(answer));
  lookup("smsc.example", { all: true }, (...answer) => answers.push(answer));
  expect(answers).toEqual([
    [null, "127.0.0.3", 4],
    [null, [found[1]!, found[2]!, found[0]!]],
  ]);
  expect(asked).toEqual(["smsc.example", { family: 4, all: true }, "smsc.example", { all: true }]);
});

test("a name is looked up as the machine does it", async () => {
  const port = await listen("127.0.0.1");
  const socket = net.connect({ host: "localhost", port, lookup: lookupInTurn(0) });
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  expect(socket.remoteAddress).toMatch(/127\.0\.0\.1$/);
  socket.destroy();
});
