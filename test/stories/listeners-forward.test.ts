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

test("strangers who send their bodies slowly keep no other request waiting, however many threads they come over", async () => {
  const many = await startPostrider({ args: ["--listeners", "3"] });
  const port = Number(new URL(many.url).port);
  let answeredStrangers = 0;
  const slow = ["POST /v1/push/register HTTP/1.1", "Host: localhost", "Content-Type: application/json"];
  const strangers = await Promise.all(
    Array.from({ length: 600 }, async () => {
      const { socket } = await dial(port);
      socket.once("data", () => answeredStrangers++);
      socket.write(`${slow.join("\r\n")}\r\nContent-Length: 60\r\n\r\n{`);
      return socket;
    }),
  );
  const cancel = [
    "POST /v1/sms/messages/none/cancel HTTP/1.1",
    "Host: localhost",
    `X-API-Key: ${many.sandbox.api_key}`,
    "Content-Length: 0",
    "Connection: close",
  ];
  const heard = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const { socket, until } = await dial(port);
      socket.write(`${cancel.join("\r\n")}\r\n\r\n`);
      return await until(/\r\n\r\n/);
    }),
  );
  expect({ answeredStrangers, statuses: heard.map(statusOf) }).toEqual({
    answeredStrangers: 0,
    statuses: heard.map(() => 404),
  });
  for (const socket of strangers) socket.destroy();
  many.kill("SIGKILL");
  await many.exited;
}, 120_000);

test("a client learns from its next answer that the connection is going to be closed", async () => {
  const { stopping, wires } = await stoppingWith("/healthz");
  const heard = await Promise.all(wires.map(({ ask }) => ask(2)));
  expect(heard.filter((answers) => !SAYS_SO.test(answers))).toEqual([]);
  expect(await stopping.exited).toBe(0);
}, 180_000);

test("a client learns that too where a listener thread answers by itself, as soon as the thread knows", async () => {
  const { stopping, wires } = await stoppingWith("/v1/sms/messages/none");
  const heard = await Promise.all(
    wires.map(async ({ ask }) => {
      for (let count = 2; ; count++) {
        const answers = await ask(count);
        // With fewer answers than that it was closed without a word.
        if (SAYS_SO.test(answers) || !answered(count).test(answers)) return answers;
      }
    }),
  );
  expect(heard.filter((answers) => !SAYS_SO.test(answers))).toEqual([]);
  expect(await stopping.exited).toBe(0);
}, 180_000);

const SAYS_SO = /connection: close/i;

/** Connections to a service with listener threads, each of which has had one answer before the service began to stop. */
async function stoppingWith(path: string) {
  const stopping = await startPostrider({ args: ["--listeners", "2"] });
  const port = Number(new URL(stopping.url).port);
  const head = [`GET ${path} HTTP/1.1`, "Host: localhost", `X-API-Key: ${stopping.sandbox.api_key}`];
  const wires = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const { socket, until } = await dial(port);
      /** Asks once more, and resolves with all answers once there are so many, or the connection is closed. */
      const ask = (count: number) => {
        socket.write(`${head.join("\r\n")}\r\n\r\n`);
        return until(answered(count));
      };
      return { ask };
    }),
  );
  for (const { ask } of wires) await ask(1);
  stopping.kill("SIGTERM");
  await stopping.line(/"msg":"stopping"/);
  return { stopping, wires };
}

function answered(count: number): RegExp {
  return new RegExp(`(?:(?:"ok"|not found").*?){${count}}`, "s");
}

/** Sends the request on a connection for each, and resolves with all that is heard. */
function everywhere(line: string, body: string, headers: readonly string[]): Promise<readonly string[]> {
  const head = [`${line} HTTP/1.1`, "Host: localhost", `X-API-Key: ${service.sandbox.api_key}`, ...headers];
  const port = Number(new URL(service.url).port);
  return Promise.all(
    Array.from({ length: CONNECTIONS }, () => exchange(port, `${head.join("\r\n")}\r\n\r\n${body}`)),
  );
}
