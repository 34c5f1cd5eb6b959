/** What a receiver may answer in order to harm the sender. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AddressInfo, Socket } from "node:net";
import { createServer, type SecureVersion } from "node:tls";
import { hooksTls } from "../../../test/fakes/hooks-tls.ts";
import { type OutboundRig, startOutboundRig } from "../../../test/fakes/outbound-rig.ts";
import { startRawPeer } from "../../../test/fakes/raw-peer.ts";

const TLS = { overTls: true };
let rig: OutboundRig;
beforeAll(async () => {
  rig = await startOutboundRig();
});
afterAll(() => rig.stop());

const HOSTILE_ANSWERS = [
  ["no HTTP", (socket: Socket) => socket.write("220 mail.example.com ESMTP\r\n"), "malformed"],
  [
    "headers without end",
    (socket: Socket) => flood(socket, `x-header: ${"y".repeat(1000)}\r\n`),
    "malformed",
  ],
  ["a header line without end", (socket: Socket) => flood(socket, "y".repeat(1000)), "malformed"],
  [
    "a connection that ends in the headers",
    (socket: Socket) => socket.end("HTTP/1.1 200 OK\r\nx: "),
    "closed",
  ],
] as const;

test.each(HOSTILE_ANSWERS)("%s is a failure, and the connection is closed", async (_, speak, reason) => {
  const { port, stop } = await startRawPeer((socket) => socket.once("data", () => void speak(socket)), TLS);
  expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({ kind: "failed", reason });
  await stop();
});

const VERSIONS: readonly SecureVersion[] = ["TLSv1.2", "TLSv1.3"];

test.each(VERSIONS)(
  "a receiver that demands a certificate over %s is a failure of TLS, not a connection that was closed",
  async (version) => {
    const only = { minVersion: version, maxVersion: version };
    const demands = { requestCert: true, rejectUnauthorized: true };
    const server = createServer({ ...hooksTls, ...only, ...demands });
    server.on("tlsClientError", () => {});
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({
      kind: "failed",
      reason: "tls",
      message: expect.stringMatching(/CERTIFICATE_REQUIRED|HANDSHAKE_FAILURE/),
    });
    await new Promise((resolve) => server.close(resolve));
  },
);

test("an answer is read to its end, in however many pieces it comes", async () => {
  const pieces = ["HTTP/1.1 2", "00 OK\r\nconnection: close\r\ncontent-len", "gth: 4\r\n\r\ndo", "ne"];
  const speak = (socket: Socket, at = 0) => {
    socket.write(pieces[at] ?? "", () => at + 1 < pieces.length && setImmediate(speak, socket, at + 1));
  };
  const { port, stop } = await startRawPeer((socket) => socket.once("data", () => speak(socket)), TLS);
  const answer = { kind: "answered", status: 200, head: "done" } as const;
  expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject(answer);
  await stop();
});

test("an answer that ends after it has begun is a failure, and not posted again, on a kept connection too", async () => {
  let posts = 0;
  const speak = (socket: Socket) => {
    posts++;
    if (posts === 1) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    else socket.end("HTTP/1.1 2");
  };
  const { port, stop } = await startRawPeer((socket) => socket.on("data", () => speak(socket)), TLS);
  const url = `https://hooks.test:${port}/`;
  expect(await rig.post(url)).toMatchObject({ kind: "answered", status: 200 });
  expect(await rig.post(url)).toMatchObject({ kind: "failed", reason: "closed" });
  expect(posts).toBe(2);
  await stop();
});

function flood(socket: Socket, line: string): void {
  socket.write("HTTP/1.1 200 OK\r\n");
  const next = () => {
    if (socket.destroyed) return;
    socket.write(line.repeat(16));
    setImmediate(next);
  };
  next();
}

test("who answers with a long header reads how long it may be", async () => {
  const answer = (octets: number) => `HTTP/1.1 204 OK\r\nx: ${"y".repeat(octets)}\r\n\r\n`;
  const answers = [answer(16_000), answer(17_000)];
  const speak = (socket: Socket) => socket.on("data", () => socket.write(answers.shift() ?? ""));
  const { port } = await startRawPeer(speak, TLS);
  expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({ kind: "answered", status: 204 });
  const message = expect.stringContaining("header is longer than 16 KiB");
  expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({ reason: "malformed", message });
});

test("an upgrade is an answer like others, and a second answer that nobody asked for is not read", async () => {
  const answers = [
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
  ];
  const speak = (socket: Socket) => socket.once("data", () => socket.write(answers.shift() ?? ""));
  const { port } = await startRawPeer(speak, TLS);
  for (const status of [101, 200, 204]) {
    expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({ kind: "answered", status });
  }
});

test.each([
  ["a length", "content-length: 2", "ok"],
  ["chunks", "transfer-encoding: chunked", "2\r\nok\r\n0\r\n\r\n"],
])("a 204 with a body of %s that comes later spoils no other delivery", async (_, framing, body) => {
  const speak = (socket: Socket) => {
    let posts = 0;
    socket.on("data", () => {
      if (++posts > 1) return void socket.write(`${body}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n`);
      socket.write(`HTTP/1.1 204 No Content\r\n${framing}\r\n\r\n`);
    });
  };
  const { port, stop } = await startRawPeer(speak, TLS);
  for (let each = 0; each < 2; each++)
    expect(await rig.post(`https://hooks.test:${port}/`)).toMatchObject({ kind: "answered", status: 204 });
  await stop();
});

test("what is shown of an answer is one line without control characters, in whole characters", async () => {
  const shown = async (body: string) => {
    rig.receiver.behave({ kind: "answer", status: 500, body });
    const outcome = await rig.post();
    return outcome.kind === "answered" ? outcome.head : outcome.message;
  };
  expect(await shown("a\r\n\tb\u0000c\u001b[31md\u202ee\u0085f")).toBe("a b\ufffdc\ufffd[31md\ufffde\ufffdf");
  expect(await shown("₹".repeat(1000))).toBe("₹".repeat(341));
  expect(await shown("")).toBe("");
});

test("a compressed answer is not unpacked", async () => {
  const body = Bun.gzipSync(new Uint8Array(1024 * 1024));
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${body.length}\r\n\r\n`;
  const { port } = await startRawPeer((socket) => {
    socket.once("data", () => {
      socket.write(head);
      socket.write(body);
    });
  }, TLS);
  const outcome = await rig.post(`https://hooks.test:${port}/`);
  expect(outcome).toMatchObject({ kind: "answered", status: 200 });
  expect(outcome.kind === "answered" && outcome.head.length).toBeLessThanOrEqual(1024);
});
