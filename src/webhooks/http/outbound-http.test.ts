import { afterEach, expect, test } from "bun:test";
import { BEHAVIOURS } from "../../../test/fakes/fake-webhook-receiver.ts";
import { type OutboundRig, type RigOptions, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";
import { startRawPeer } from "../../../test/fakes/raw-peer.ts";
import { testTls } from "../../../test/fakes/test-tls.ts";
import { until } from "../../../test/until.ts";

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.stop()));
});

async function rig(options: RigOptions = {}): Promise<OutboundRig> {
  const started = await startOutboundRig(options);
  open.push(started);
  return started;
}

async function startPeer(...args: Parameters<typeof startRawPeer>): Promise<number> {
  const peer = await startRawPeer(...args);
  open.push(peer);
  return peer.port;
}

test("a POST arrives with its body, the name in Host and SNI, and the answer comes back", async () => {
  const { post, receiver } = await rig();
  expect(await post(receiver.url({ path: "/hook?a=1&b=%20" }))).toEqual({
    kind: "answered",
    status: 200,
    head: "ok",
    ms: 0,
  });
  expect(receiver.deliveries[0]).toMatchObject({
    method: "POST",
    path: "/hook?a=1&b=%20",
    body: "{}",
    servername: "hooks.test",
    headers: {
      host: `hooks.test:${receiver.port}`,
      "content-length": "2",
      "content-type": "application/json",
    },
  });
});

test("the next POST to the same place takes the same connection; another name at that address gets its own", async () => {
  const { post, receiver } = await rig();
  await post();
  await post();
  expect(receiver.connections()).toBe(1);
  await post(receiver.url({ name: "other.hooks.test" }));
  expect(receiver.connections()).toBe(2);
  expect(receiver.deliveries.map((each) => each.servername)).toEqual([
    "hooks.test",
    "hooks.test",
    "other.hooks.test",
  ]);
});

test("idle connections are closed before most servers do it", async () => {
  const { post, receiver, clock } = await rig();
  await post();
  await clock.advance(5_000);
  expect(clock.pending()).toBe(0);
  await post();
  expect(receiver.connections()).toBe(2);
});

test("a kept connection that the server has closed costs no failure", async () => {
  const { post, receiver } = await rig();
  await post();
  receiver.behave((_, index) => (index === 1 ? BEHAVIOURS.close : BEHAVIOURS.ok));
  expect(await post()).toMatchObject({ kind: "answered", status: 200 });
  expect(receiver.deliveries).toHaveLength(3);
});

test("a 408 on a kept connection is about its idle time: the POST is made again on a new one, and there it counts", async () => {
  const { post, receiver } = await rig();
  await post();
  receiver.behave((_, index) => (index === 1 ? BEHAVIOURS.idleTooLong : BEHAVIOURS.ok));
  expect(await post()).toMatchObject({ kind: "answered", status: 200 });
  expect([receiver.deliveries.length, receiver.connections()]).toEqual([3, 2]);
  receiver.behave(BEHAVIOURS.idleTooLong);
  expect(await post()).toMatchObject({ kind: "answered", status: 408 });
  expect([receiver.deliveries.length, receiver.connections()]).toEqual([5, 3]);
});

test.each([
  ["error", { status: 500, head: "out of order" }],
  ["gone", { status: 410, head: "" }],
  ["throttled", { status: 429, retryAfter: "120" }],
  ["okThenClose", { status: 200, head: "partial" }],
  ["slow", { status: 200, head: "ok" }],
] as const)("an answer is an answer: %s", async (behaviour, expected) => {
  const { post, receiver } = await rig();
  receiver.behave(BEHAVIOURS[behaviour]);
  expect(await post()).toMatchObject({ kind: "answered", ...expected });
});

test("a redirect is an answer, and nobody goes there", async () => {
  const { post, receiver } = await rig();
  const inside = await startPeer(() => {
    throw new Error("followed");
  });
  const location = `https://127.0.0.1:${inside}/`;
  for (const status of [301, 302, 303, 307, 308]) {
    receiver.behave({ kind: "answer", status, headers: { location } });
    expect(await post()).toMatchObject({ kind: "answered", status });
  }
});

test("of a huge or endless answer 64 KiB are read and 1 KiB is kept", async () => {
  const { post, receiver } = await rig();
  receiver.behave(BEHAVIOURS.huge);
  expect(await post()).toMatchObject({ kind: "answered", status: 200, head: "x".repeat(1024) });
  receiver.behave(BEHAVIOURS.endless);
  expect(await post()).toMatchObject({ kind: "answered", status: 200 });
  const written = receiver.written();
  // What fits into the buffers of two sockets beside what was read.
  expect(written).toBeLessThan(16 * 1024 * 1024);
});

test("15 seconds are the limit for an answer", async () => {
  const { post, receiver, clock } = await rig();
  receiver.behave(BEHAVIOURS.silent);
  const outcome = post();
  await receiver.arrived(1);
  await clock.advance(14_999);
  expect(await Promise.race([outcome, Promise.resolve("waiting")])).toBe("waiting");
  await clock.advance(1);
  expect(await outcome).toEqual({
    kind: "failed",
    reason: "timeout",
    message: "no answer in time",
    ms: 15_000,
  });
  expect(clock.pending()).toBe(0);
});

test("15 seconds are the limit for the name server too", async () => {
  const { post, receiver, clock, dns } = await rig();
  dns.silent.add("hooks.test");
  const outcome = post();
  await until(() => dns.asked.length === 2);
  await clock.advance(15_000);
  expect(await outcome).toMatchObject({ kind: "failed", reason: "timeout", ms: 15_000 });
  expect(receiver.connections()).toBe(0);
});

test("15 seconds are the limit for a server that accepts and does not speak TLS, or drips its answer", async () => {
  const { post, clock, receiver } = await rig();
  let isConnected = () => {};
  const connected = new Promise<void>((resolve) => {
    isConnected = resolve;
  });
  const mute = post(`https://hooks.test:${await startPeer(() => isConnected())}/`);
  await connected;
  await clock.advance(15_000);
  expect(await mute).toMatchObject({ kind: "failed", ms: 15_000 });

  receiver.behave(BEHAVIOURS.silent);
  const outcome = post();
  await receiver.arrived(1);
  await clock.advance(15_000);
  expect(await outcome).toMatchObject({ reason: "timeout" });
});

test("when the program ends, a POST ends at once", async () => {
  const { post, receiver } = await rig();
  receiver.behave(BEHAVIOURS.silent);
  const controller = new AbortController();
  const outcome = post(receiver.url(), controller.signal);
  await receiver.arrived(1);
  controller.abort();
  expect(await outcome).toMatchObject({ kind: "failed", reason: "stopped" });
  expect(await post(receiver.url(), controller.signal)).toMatchObject({ reason: "stopped" });
});

test("a server that closes without an answer failed", async () => {
  const { post, receiver } = await rig();
  receiver.behave(BEHAVIOURS.close);
  expect(await post()).toMatchObject({ kind: "failed", reason: "closed" });
  expect(receiver.deliveries).toHaveLength(1);
});

test("a certificate for another name, or of an unknown authority, is refused before anything is said", async () => {
  const named = await rig({ tls: testTls, ca: testTls.ca });
  expect(await named.post()).toMatchObject({ kind: "failed", reason: "tls" });
  const unknown = await rig({ ca: testTls.ca });
  expect(await unknown.post()).toMatchObject({ kind: "failed", reason: "tls" });
  expect([...named.receiver.deliveries, ...unknown.receiver.deliveries]).toEqual([]);
});

test("no variable of the environment makes certificates count for nothing", async () => {
  const unknown = await rig({ ca: testTls.ca });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  const outcome = await unknown.post().finally(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
  expect(outcome).toMatchObject({ kind: "failed", reason: "tls" });
});

test("an address in the URL is checked against the certificate, without SNI and without asking for a name", async () => {
  const { post, receiver, dns } = await rig({ tls: testTls, ca: testTls.ca });
  expect(await post(receiver.url({ name: "127.0.0.1" }))).toMatchObject({ status: 200 });
  expect(receiver.deliveries[0]).toMatchObject({ servername: false });
  expect(dns.asked).toEqual([]);
});

test("localhost is this machine, whatever the name server says, and needs to be allowed", async () => {
  const allowing = await rig({ tls: testTls, ca: testTls.ca });
  allowing.dns.a.set("localhost", ["8.8.8.8"]);
  expect(await allowing.post(allowing.receiver.url({ name: "localhost" }))).toMatchObject({ status: 200 });
  const strict = await rig({ allowed: [] });
  expect(await strict.post("https://localhost/")).toMatchObject({ reason: "refused_address" });
});

test("a name that does not exist, or has no address, is a failure of its name", async () => {
  const { post, dns } = await rig();
  dns.a.clear();
  expect(await post("https://gone.test/")).toMatchObject({ kind: "failed", reason: "dns" });
  dns.txt.set("text.test", "x");
  expect(await post("https://text.test/")).toMatchObject({ kind: "failed", reason: "dns" });
  expect(await post(`https://${"a".repeat(64)}.test/`)).toMatchObject({ kind: "failed", reason: "dns" });
});

test("a port where nobody listens failed to connect, and the name's next address is tried", async () => {
  const { post, dns, receiver } = await rig();
  expect(await post("https://hooks.test:1/")).toMatchObject({ kind: "failed", reason: "connect" });
  dns.a.set("hooks.test", ["127.0.0.9", "127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  expect(receiver.deliveries).toHaveLength(1);
});

test("a name that mostly leads nowhere is reached at its last address, of either family", async () => {
  const { post, dns, receiver } = await rig();
  const dead = Array.from({ length: 7 }, (_, index) => `127.0.0.${index + 2}`);
  dns.a.set("hooks.test", [...dead, "127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  dns.a.set("hooks.test", [...dead, "127.0.0.9"]);
  dns.aaaa.set("hooks.test", ["::ffff:127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  dns.a.set("hooks.test", ["127.0.0.9"]);
  dns.aaaa.set("hooks.test", ["::ffff:127.0.0.8", "::ffff:127.0.0.1"]);
  expect(await post()).toMatchObject({ status: 200 });
  expect(receiver.deliveries).toHaveLength(3);
});

test.each([
  ["AAAA", "127.0.0.1", "::1"],
  ["A", "::ffff:127.0.0.1", "127.0.0.9"],
])("a name server that never answers for %s costs a second", async (type, address, hidden) => {
  const { post, dns, clock, receiver } = await rig();
  dns.a.set(
    "hooks.test",
    [address, hidden].filter((each) => !each.includes(":")),
  );
  dns.aaaa.set(
    "hooks.test",
    [address, hidden].filter((each) => each.includes(":")),
  );
  dns.silent.add(`${type} hooks.test`);
  const outcome = post();
  // The limit of the attempt, and that of the answer that is missing.
  await until(() => clock.pending() === 2);
  await clock.advance(999);
  expect(receiver.connections()).toBe(0);
  await clock.advance(1);
  expect(await outcome).toMatchObject({ status: 200, ms: 1_000 });
});

test.each([
  ["SSH-2.0-OpenSSH_9.2\r\n", "tls"],
  ["HTTP/1.1 200 OK\r\n\r\n", "tls"],
])("a server that speaks %j is a failure of TLS", async (greeting, reason) => {
  const { post } = await rig();
  const port = await startPeer((socket) => socket.write(greeting));
  expect(await post(`https://hooks.test:${port}/`)).toMatchObject({ kind: "failed", reason });
});

test("an address that takes the connection and then nothing leaves time for the name's next one", async () => {
  const { post, receiver, dns, clock } = await rig();
  let isConnected = () => {};
  const connected = new Promise<void>((resolve) => {
    isConnected = resolve;
  });
  await startPeer(() => isConnected(), { host: "127.0.0.9", port: receiver.port });
  dns.a.set("hooks.test", ["127.0.0.9", "127.0.0.1"]);
  const outcome = post();
  await connected;
  await clock.advance(4_000);
  expect(await outcome).toMatchObject({ status: 200 });
});

test("many at once to one name share nothing but the place", async () => {
  const { post, receiver } = await rig();
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => post()));
  expect(outcomes.every((each) => each.kind === "answered" && each.status === 200)).toBe(true);
  expect(receiver.connections()).toBeLessThanOrEqual(100);
  await Promise.all(Array.from({ length: 50 }, () => post()));
  expect(receiver.connections()).toBeLessThanOrEqual(100);
});
