/** A gateway whose name has several addresses. */
import { expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { never } from "../../../../test/fakes/http-rig.ts";
import { startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { createSignals } from "../../../../test/fakes/signals.ts";
import { createHttpClient } from "./http-client.ts";

const ANSWER_MS = 5_000;

/** A peer that takes requests and says nothing, and one that answers, at another address. */
async function startAtTwoAddresses() {
  const asked = createSignals();
  let requests = 0;
  const silent = await startRawPeer(
    (socket) =>
      socket.once("data", () => {
        requests++;
        asked.tell();
      }),
    { host: "127.0.0.2" },
  );
  const { port } = silent;
  const answer = (socket: Socket) =>
    void socket.on("data", () => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
  const good = await startRawPeer(answer, { host: "127.0.0.3", port });
  return {
    port,
    whenAsked: (count: number) => asked.until(() => requests === count),
    stop: () => Promise.all([silent.stop(), good.stop()]),
  };
}

function openClient(port: number, ...addresses: readonly string[]) {
  const clock = createHeldClock();
  const client = createHttpClient(clock, {
    connectTimeoutMs: ANSWER_MS,
    timeoutMs: ANSWER_MS,
    maxConnections: 10,
    isVerified: true,
    resolve: (_host, _options, done) =>
      done(
        null,
        addresses.map((address) => ({ address, family: 4 })),
      ),
  });
  const url = new URL(`http://gateway.example:${port}`);
  const ask = (signal = never) => client.exchange({ method: "POST", url, headers: {}, body: "{}" }, signal);
  return { clock, ask, close: client.close };
}

test("after an address that gives no answer the next is tried, and kept to while it answers", async () => {
  const gateway = await startAtTwoAddresses();
  const { clock, ask, close } = openClient(gateway.port, "127.0.0.2", "127.0.0.3");
  // Together they are one turn.
  const asked = [ask(), ask()];
  await gateway.whenAsked(2);
  await clock.advance(ANSWER_MS);
  expect((await Promise.all(asked)).map(({ kind }) => kind)).toEqual(["lost", "lost"]);
  for (let n = 0; n < 3; n++) expect((await ask()).kind).toBe("answered");
  close();
  await gateway.stop();
});

test("an address that refuses is passed over, at whatever turn", async () => {
  const gateway = await startAtTwoAddresses();
  const { ask, close } = openClient(gateway.port, "127.0.0.8", "127.0.0.3");
  for (let n = 0; n < 3; n++) expect((await ask()).kind).toBe("answered");
  close();
  await gateway.stop();
});

test("an address that hangs up on a first request is left for the next", async () => {
  const gateway = await startAtTwoAddresses();
  const hangingUp = await startRawPeer((socket) => socket.once("data", () => socket.destroy()), {
    host: "127.0.0.5",
    port: gateway.port,
  });
  const { ask, close } = openClient(gateway.port, "127.0.0.5", "127.0.0.3");
  expect([(await ask()).kind, (await ask()).kind]).toEqual(["lost", "answered"]);
  close();
  await hangingUp.stop();
  await gateway.stop();
});

test("that a request was called off is no reason to leave its address", async () => {
  const gateway = await startAtTwoAddresses();
  const { ask, close } = openClient(gateway.port, "127.0.0.2", "127.0.0.3");
  const calledOff = new AbortController();
  const first = ask(calledOff.signal);
  await gateway.whenAsked(1);
  calledOff.abort();
  expect((await first).kind).toBe("lost");
  const again = gateway.whenAsked(2).then(() => "asked again");
  expect(await Promise.race([again, ask().then(({ kind }) => kind)])).toBe("asked again");
  close();
  await gateway.stop();
});

test("that a connection was closed under a second request is no reason to leave an address that answers", async () => {
  const gateway = await startAtTwoAddresses();
  const closing = await startRawPeer(
    (socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 204 No Content\r\n\r\n");
        socket.once("data", () => socket.destroy());
      });
    },
    { host: "127.0.0.4", port: gateway.port },
  );
  const { clock, ask, close } = openClient(gateway.port, "127.0.0.4", "127.0.0.2");
  expect((await ask()).kind).toBe("answered");
  expect((await ask()).kind).toBe("lost");
  const next = ask();
  void gateway.whenAsked(1).then(() => clock.advance(ANSWER_MS));
  expect((await next).kind).toBe("answered");
  close();
  await closing.stop();
  await gateway.stop();
});
