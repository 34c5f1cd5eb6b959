/** A server that gets another certificate while clients are connected. */
import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:tls";
import { selfSignedTls } from "../../../test/fakes/doubtful-tls.ts";
import { createHeldClock, type HeldClock } from "../../../test/fakes/held-clock.ts";
import { fingerprintOf, shownAt } from "../../../test/fakes/shown-certificate.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import type { AnswerRequest } from "../../api/app-deps.ts";
import { type Listener, ListenFailure, listen } from "./listen.ts";

const OLD = { cert: testTls.cert, key: testTls.key };
const NEW = { cert: selfSignedTls.cert, key: selfSignedTls.key };
const OVERLAP_MS = 5_000;

let clock: HeldClock;
let listener: Listener | undefined;

function open(answer: AnswerRequest, sharing?: "joins") {
  clock = createHeldClock();
  listener = listen({ host: "127.0.0.1", port: 0, tls: OLD, ...(sharing && { sharing }) }, clock, answer);
  return { ...listener, port: Number(new URL(listener.url).port) };
}

async function stopped(): Promise<void> {
  const stopping = listener?.stop();
  listener = undefined;
  await clock.advance(1_000);
  await stopping;
}

afterEach(stopped);

const shownBy = (port: number) => Promise.all(Array.from({ length: 8 }, () => shownAt(port)));

/** A client that stays connected. */
async function connected(port: number) {
  const socket = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(socket, "secureConnect");
  return {
    socket,
    ended: once(socket, "end"),
    ask: () => socket.write("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    answer: async () => String((await once(socket, "data"))[0]),
  };
}

for (const sharing of [undefined, "joins"] as const) {
  test(`who connects is shown the new certificate, on a port that is its own or shared: ${sharing}`, async () => {
    const { port, renew } = open(async () => new Response("ok"), sharing);
    expect(new Set(await shownBy(port))).toEqual(new Set([fingerprintOf(OLD.cert)]));
    renew(NEW);
    await clock.advance(OVERLAP_MS);
    expect(new Set(await shownBy(port))).toEqual(new Set([fingerprintOf(NEW.cert)]));
    renew(OLD);
    await clock.advance(OVERLAP_MS);
    expect(new Set(await shownBy(port))).toEqual(new Set([fingerprintOf(OLD.cert)]));
  });
}

test("connections that are open go on: an answer that is under way comes, and the next one says that it is the last", async () => {
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { port, renew } = open(async ({ url }) => {
    if (!url.endsWith("/slow")) return new Response("at once");
    arrived.resolve();
    await held.promise;
    return new Response("late");
  });
  const [slow, idle] = await Promise.all([connected(port), connected(port)]);
  slow.socket.write("GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await arrived.promise;
  renew(NEW);
  idle.ask();
  expect(await idle.answer()).toMatch(
    /^HTTP\/1.1 200 OK\r\n(.*\r\n)*connection: close\r\n(.*\r\n)*\r\nat once$/i,
  );
  await idle.ended;
  await clock.advance(OVERLAP_MS);
  held.resolve();
  expect(await slow.answer()).toEndWith("\r\n\r\nlate");
});

test("a stop waits for requests over connections with the certificate from before", async () => {
  const arrived = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const { port, renew, stop } = open(async () => {
    arrived.resolve();
    await held.promise;
    return new Response("late");
  });
  const client = await connected(port);
  client.ask();
  await arrived.promise;
  renew(NEW);
  await clock.advance(OVERLAP_MS);
  listener = undefined;
  let isOver = false;
  const stopping = stop().then(() => {
    isOver = true;
  });
  await clock.advance(1_000);
  expect(isOver).toBe(false);
  held.resolve();
  expect(await client.answer()).toEndWith("\r\n\r\nlate");
  await clock.advance(1_000);
  await stopping;
});

test("a key that is another certificate's is refused, and the server goes on with the one from before", async () => {
  const { port, renew } = open(async () => new Response("ok"));
  expect(() => renew({ cert: NEW.cert, key: OLD.key })).toThrow(ListenFailure);
  await clock.advance(OVERLAP_MS);
  expect(new Set(await shownBy(port))).toEqual(new Set([fingerprintOf(OLD.cert)]));
});

test("the same certificate once more closes no connection", async () => {
  const { port, renew } = open(async () => new Response("ok"));
  const client = await connected(port);
  renew({ ...OLD });
  client.ask();
  expect(await client.answer()).not.toMatch(/connection: close/i);
});

test("once it stops, no other certificate opens the port again", async () => {
  const { port, renew, stop } = open(async () => new Response("ok"));
  const stopping = stop();
  renew(NEW);
  listener = undefined;
  await clock.advance(1_000);
  await stopping;
  await expect(shownAt(port)).rejects.toThrow("ECONNREFUSED");
});

test("another process is still refused the port", async () => {
  const { port } = open(async () => new Response("ok"));
  const opening = () => listen({ host: "127.0.0.1", port, tls: OLD }, clock, async () => new Response());
  expect(opening).toThrow(/in use|EADDRINUSE/);
});
