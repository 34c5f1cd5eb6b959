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
async function fetchFrom(speak: (socket: TLSSocket) => void): Promise<string | undefined> {
  const server = createServer({ key: mailTls.key, cert: mailTls.cert }, (socket) => {
    socket.on("error", () => {});
    socket.once("data", () => speak(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const place = { host: "mta-sts.example.net", address: "127.0.0.1", port, ca: mailTls.ca };
  return fetchPolicy(place, createHeldClock(), NEVER);
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
