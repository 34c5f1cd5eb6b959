/** What a listener thread hands on to the main one is answered as if it had come there. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { dial } from "../fakes/raw-client.ts";
import { exchange, statusOf } from "../fuzz/wire.ts";
import { type PostriderProcess, startPostrider } from "../postrider-process.ts";

let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider({ args: ["--listeners", "2"] });
});

afterAll(async () => {
  service.kill("SIGKILL");
  await service.exited;
});

/** A connection each, so that both threads get some. */
const CONNECTIONS = 20;

test("a client that offers another protocol has its body read at once", async () => {
  const { account_id, push_app_id: app_id } = service.sandbox;
  const body = JSON.stringify({ account_id, app_id, platform: "fcm", token: "t" });
  const heard = await everywhere("POST /v1/push/register", body, [
    "Connection: Upgrade, close",
    "Upgrade: websocket",
    `Content-Length: ${body.length}`,
  ]);
  expect(heard.map(statusOf)).toEqual(heard.map(() => 201));
});

test("a header that no HTTP client would send does not make a GET fail", async () => {
  const heard = await everywhere("GET /v1/sms/messages?limit=1", "", ["Connection: close", "X-Note: a\x7fb"]);
  expect(heard.map(statusOf)).toEqual(heard.map(() => 200));
});

test("the refusal of TRACE has the body of every refusal", async () => {
  const heard = await everywhere("TRACE /v1/push/register", "", ["Connection: close"]);
  const bodies = heard.map((answer) => answer.split("\r\n\r\n")[1]);
  expect(bodies).toEqual(heard.map(() => '{"code":405,"message":"method not allowed"}'));
});

test("a client learns from its next answer that the connection is going to be closed, whichever thread makes that answer", async () => {
  const another = await startPostrider({ args: ["--listeners", "2"] });
  const port = Number(new URL(another.url).port);
  const wires = await Promise.all(
    Array.from({ length: 2 * CONNECTIONS }, async (_, n) => ({
      ...(await dial(port)),
      // Only the main thread answers the one, each thread the other.
      get: `GET ${n % 2 === 0 ? "/healthz" : "/v1/sms/messages/none"} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${another.sandbox.api_key}\r\n\r\n`,
    })),
  );
  for (const { socket, get, until } of wires) {
    socket.write(get);
    await until(ANSWER);
  }
  another.kill("SIGTERM");
  await another.line(/"msg":"stopping"/);
  for (const { socket, get } of wires) socket.write(get);
  const heard = await Promise.all(wires.map(({ until }) => until(TWO_ANSWERS)));
  expect(heard.filter((answers) => !/connection: close/i.test(answers))).toEqual([]);
  expect(await another.exited).toBe(0);
}, 180_000);

const ANSWER = /"ok"|not found"/;
const TWO_ANSWERS = new RegExp(`(${ANSWER.source}).*(${ANSWER.source})`, "s");

/** Sends the request on a connection for each, and resolves with all that is heard. */
function everywhere(line: string, body: string, headers: readonly string[]): Promise<readonly string[]> {
  const head = [`${line} HTTP/1.1`, "Host: localhost", `X-API-Key: ${service.sandbox.api_key}`, ...headers];
  const port = Number(new URL(service.url).port);
  return Promise.all(
    Array.from({ length: CONNECTIONS }, () => exchange(port, `${head.join("\r\n")}\r\n\r\n${body}`)),
  );
}
