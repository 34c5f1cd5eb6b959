/** Answers that are all there, though something about how they come is wrong. On the real clock, since their ends never come. */

import { afterEach, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { channelDeps } from "../../../../test/fakes/channel-deps.ts";
import { httpConnector, never, outgoingSms } from "../../../../test/fakes/http-rig.ts";
import { type RawPeer, startRawPeer } from "../../../../test/fakes/raw-peer.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import type { Channel } from "../../channel.ts";
import type { AnswerDescription } from "./gateway.ts";
import { httpConnectorKind } from "./http-connector.ts";

let peer: RawPeer | undefined;
let channel: Channel | undefined;
afterEach(async () => {
  await channel?.stop();
  await peer?.stop();
});

/** What becomes of a message whose request gets these octets and nothing more, not even an end. */
async function answered(...octets: readonly (string | Buffer)[]) {
  return answeredAs({ id: { json: "/id" } }, ...octets);
}

async function answeredAs(answer: AnswerDescription, ...octets: readonly (string | Buffer)[]) {
  let request = "";
  peer = await startRawPeer((socket) =>
    socket.once("data", (data) => {
      request = String(data);
      for (const each of octets) socket.write(each);
    }),
  );
  const url = `http://127.0.0.1:${peer.port}/send`;
  const gateway = { send: { url, form: { to: "{{to}}" } }, answer };
  const connector = httpConnector({ provider: "custom", gateway, response_timeout_ms: 1_000 });
  channel = httpConnectorKind.open(connector, channelDeps({ clock: createSystemClock() }));
  channel.start();
  return { ...(await channel.send(outgoingSms(), never)), request };
}

const TAKEN = [{ kind: "sent" as const, providerMessageIds: ["a"] }];

function zipped(text: string): readonly (string | Buffer)[] {
  const octets = gzipSync(text);
  const head = `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${octets.length}\r\n\r\n`;
  return [head, octets];
}

test.each([
  ["is shorter than it says", 'Content-Length: 20\r\n\r\n{"id":"a"}'],
  ["has no last chunk", 'Transfer-Encoding: chunked\r\n\r\na\r\n{"id":"a"}\r\n'],
  ["begins with a byte order mark", 'Content-Length: 13\r\n\r\n\ufeff{"id":"a"}'],
])("a message whose answer %s was sent, and is not sent again", async (_, answer) => {
  expect((await answered(`HTTP/1.1 200 OK\r\n${answer}`)).parts).toMatchObject(TAKEN);
});

/** As Kannel answers: some words say that it was taken, and all others that it was not. */
const BY_WORDS = [
  { from: { match: "^0: Accepted" }, outcome: "sent" as const },
  { http: "200", outcome: "rejected" as const },
];
const BY_STATE = [{ from: { json: "/state" }, is: ["refused"], outcome: "rejected" as const }];
const BY_SECOND = [{ http: "200", and: { from: { json: "/state" } }, outcome: "rejected" as const }];
const BY_STATUS = [{ http: "200", outcome: "sent" as const }];
const IN_DOUBT = { kind: "unconfirmed" as const, error: { code: "http.unreadable_answer" } };

test.each([
  ["words", BY_WORDS, "", IN_DOUBT],
  ["words", BY_WORDS, "0: Accepted for", { kind: "sent" as const }],
  ["a state", BY_STATE, '{"state":"ref', { kind: "sent" as const }],
  ["a state", BY_STATE, '{"state":"refused"}', { kind: "rejected" as const }],
  ["a second value", BY_SECOND, '{"state":"refused"}', { kind: "rejected" as const }],
  ["a row for its status", BY_STATUS, "", { kind: "sent" as const }],
  ["its status alone", undefined, "", { kind: "sent" as const }],
])("an answer that tells by %s is cut off: %j, %j", async (_, rows, body, outcome) => {
  const { parts } = await answeredAs(
    { ...(rows && { rows }) },
    `HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n${body}`,
  );
  expect(parts).toMatchObject([outcome]);
});

test.each([
  ["429 Too Many Requests", { kind: "deferred", retryAfterMs: 7_000 }],
  ["400 Bad Request", { kind: "rejected", error: { code: "http.400" } }],
])("%s counts, though the answer never ends", async (status, outcome) => {
  const { parts } = await answered(`HTTP/1.1 ${status}\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\nslow`);
  expect(parts).toMatchObject([outcome]);
});

test("a refusal by its status counts too where the gateway's description names that status", async () => {
  const rows = [{ http: "403", outcome: "rejected" as const }];
  const { parts } = await answeredAs({ rows }, "HTTP/1.1 403 Forbidden\r\nContent-Length: 9\r\n\r\nslow");
  expect(parts).toMatchObject([{ kind: "rejected", error: { code: "http.403" } }]);
});

test("a gateway is asked not to compress, and is understood if it does", async () => {
  const { parts, request } = await answered(...zipped('{"id":"a"}'));
  expect(request).toMatch(/^accept-encoding: identity\r$/im);
  expect(parts).toMatchObject(TAKEN);
});

test("what would not fit once it is unzipped is not unzipped", async () => {
  const { parts } = await answered(...zipped(`{"id":"a","more":"${"x".repeat(10_000_000)}"}`));
  expect(parts).toMatchObject([{ kind: "unconfirmed", error: { code: "http.unreadable_answer" } }]);
});

test.each(["-5", "1.5", "next week"])("a wait of %s is none that a gateway can ask for", async (wait) => {
  const { parts } = await answered(`HTTP/1.1 503 Busy\r\nRetry-After: ${wait}\r\nContent-Length: 0\r\n\r\n`);
  expect(parts).toEqual([{ kind: "deferred", error: { code: "http.503", message: "HTTP 503" } }]);
});
