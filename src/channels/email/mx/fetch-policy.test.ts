import { afterEach, expect, test } from "bun:test";
import type { AddressInfo } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { createHeldClock } from "../../../../test/fakes/held-clock.ts";
import { mailTls } from "../../../../test/fakes/mail-tls.ts";
import { fetchPolicy } from "./fetch-policy.ts";

const NEVER = new AbortController().signal;
const INTERIM = "HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n";
const POLICY = "version: STSv1\nmode: none\nmax_age: 1\n";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Fetches from a host that says this to every request; time stands still. */
async function fetchFrom(
  speak: (socket: TLSSocket, request: string) => void,
  signal = NEVER,
  host = "mta-sts.example.net",
): Promise<string | undefined> {
  const server = createServer({ key: mailTls.key, cert: mailTls.cert }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", (request) => speak(socket, String(request)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const place = { host, address: "127.0.0.1", port, ca: mailTls.ca };
  return fetchPolicy(place, createHeldClock(), signal);
}

/** Fetches from a host that answers so. */
function fetchAnswer(text: string, status = "200 OK"): Promise<string | undefined> {
  const answer = `HTTP/1.1 ${status}\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
  return fetchFrom((socket) => socket.write(answer));
}

test("interim answers without end are hung up on", async () => {
  const floodWith = (socket: TLSSocket) => {
    if (socket.destroyed) return;
    socket.write(INTERIM.repeat(100));
    setImmediate(floodWith, socket);
  };
  expect(await fetchFrom(floodWith)).toBeUndefined();
});

test("a few interim answers are passed over", async () => {
  const answer = `${INTERIM.repeat(2)}HTTP/1.1 200 OK\r\ncontent-length: ${POLICY.length}\r\n\r\n${POLICY}`;
  expect(await fetchFrom((socket) => socket.write(answer))).toBe(POLICY);
});

test("what comes with another status than 200 is no policy", async () => {
  for (const status of ["201 Created", "203 Non-Authoritative", "404 Not Found", "500 Oops"])
    expect(await fetchAnswer(POLICY, status)).toBeUndefined();
});

test("a file of 64 KiB is read, and none that is larger", async () => {
  const largest = POLICY + "#".repeat(65_536 - POLICY.length);
  expect(await fetchAnswer(largest)).toBe(largest);
  expect(await fetchAnswer(`${largest}#`)).toBeUndefined();
});

test("the host is asked for under its name, with a port that is not the usual one", async () => {
  let asked = "";
  await fetchFrom((socket, request) => {
    asked = request.toLowerCase();
    socket.destroy();
  });
  expect(asked).toStartWith("get /.well-known/mta-sts.txt http/1.1\r\n");
  expect(asked).toMatch(/\r\nhost: mta-sts\.example\.net:\d+\r\n/);
});

test("what was called off before it began is not waited for", async () => {
  expect(await fetchFrom(() => {}, AbortSignal.abort())).toBeUndefined();
});

test("a host without a certificate for its name has no policy, whatever the environment says", async () => {
  const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${POLICY.length}\r\n\r\n${POLICY}`;
  const speak = (socket: TLSSocket) => socket.write(answer);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  cleanups.push(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  expect(await fetchFrom(speak)).toBe(POLICY);
  expect(await fetchFrom(speak, NEVER, "mta-sts.elsewhere.test")).toBeUndefined();
});
