import { afterAll, beforeAll, expect, test } from "bun:test";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { admin } from "./admin.ts";
import { type PostriderProcess, startPostrider } from "./postrider-process.ts";
import { type Ran, ran } from "./ran.ts";

const EXAMPLES = join(import.meta.dir, "../examples");

let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider();
});

afterAll(async () => {
  service.kill("SIGTERM");
  await service.exited;
});

test("the example for continuous integration passes on a sandbox as it comes", async () => {
  const { code, out, err } = await run("assert-in-ci.ts", join(service.dataFolder, "sandbox.json"));
  expect([code, err]).toEqual([0, ""]);
  expect(out.trim().split("\n")).toEqual([
    "ok codeArrivesInOneSegment",
    "ok wrongNumberIsUndelivered",
    "ok unknownMailboxBounces",
  ]);
});

const hasPython = Bun.which("python3") !== null;
const CI = Boolean(process.env.CI);
const withPython = test.skipIf(!hasPython && !CI); // skipped: no Python here

withPython("the example in Python makes one message, though its first ones get no answer", async () => {
  await using front = await openFront(service.url);
  const script = ["python3", join(EXAMPLES, "send_sms.py")];
  const { account_id: account, api_key: apiKey } = service.sandbox;
  const { id: template } = await admin<{ id: string }>(service, "/sms-templates", {
    account_id: account,
    name: "one-time",
    body: "{#var#} is your code.",
  });
  const env = { ...process.env, BASE_URL: front.url, API_KEY: apiKey };
  const sent = (to: string) =>
    ran(Bun.spawn([...script, to, template, "4711"], { stdout: "pipe", stderr: "pipe", env }));

  const { code, out, err } = await sent("+919876500077");
  expect([code, err, front.requests()]).toEqual([0, "", 3]);
  const listed = await fetch(`${service.url}/v1/sms/messages?to=%2B919876500077`, {
    headers: { Authorization: `Bearer ${apiKey}` },
  });
  const { data } = (await listed.json()) as { data: { message_id: string }[] };
  expect(data.map(({ message_id }) => message_id)).toEqual([out.trim()]);

  const refused = await sent("12");
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^400: .*invalid phone number/)]);
});

/** Passes requests on, and hangs up instead of passing the first answer back, and in the middle of its own words the second time. */
async function openFront(target: string) {
  let count = 0;
  const server = createServer(async (incoming, answer) => {
    const turn = count++;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk);
    const headers = incoming.headers as Record<string, string>;
    const init = { method: "POST", headers, body: Buffer.concat(chunks) };
    const response = await fetch(target + incoming.url, init);
    const body = await response.text();
    if (turn === 0) incoming.socket.destroy();
    else if (turn === 1) {
      const headers = { "Retry-After": new Date().toUTCString(), "Content-Length": 100 };
      answer.writeHead(502, headers).write("<html>", () => incoming.socket.end());
    } else answer.writeHead(response.status, { "Content-Type": "application/json" }).end(body);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => count,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), "close");
    },
  };
}

async function run(example: string, ...args: string[]): Promise<Ran> {
  const child = Bun.spawn([process.execPath, join(EXAMPLES, example), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  return ran(child);
}
