/** Several threads listen on one port, write to one database, and look like one service. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { canLimitFiles, holdFreeFiles } from "../fakes/process-limits.ts";
import { dial } from "../fakes/raw-client.ts";
import { exchange, statusOf } from "../fuzz/wire.ts";
import { type PostriderProcess, runPostrider, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

const { CI } = process.env;
const testFiles = test.concurrent.skipIf(!canLimitFiles && !CI); // skipped: this system cannot limit another process

let service: PostriderProcess;

beforeAll(async () => {
  service = await startPostrider({ args: ["--listeners", "2"], env: { LOG_LEVEL: "debug" } });
});

afterAll(async () => {
  service.kill("SIGKILL");
  await service.exited;
});

/** A connection each, so that both threads get some. */
const CONNECTIONS = 40;

test("both threads take requests, and the metrics count all of them", async () => {
  const refused = Array.from({ length: CONNECTIONS }, () => send({}, { to: "nobody" }));
  const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => send({})));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  expect((await Promise.all(refused)).map(({ status }) => status)).toEqual(refused.map(() => 400));
  const ids = new Set(answers.map(({ body }) => body.message_id));
  expect(ids.size).toBe(CONNECTIONS);
  const found = await Promise.all([...ids].map((id) => call(`/v1/sms/messages/${id}`)));
  expect(found.map(({ status }) => status)).toEqual(found.map(() => 200));
  await until(async () => {
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const counts = text.matchAll(/_requests_total\{operation="sendSms",status="(\d+)"\} (\d+)/g);
    const counted = Object.fromEntries(Array.from(counts, ([, status, count]) => [status, Number(count)]));
    const timed = ["main", "listener 1"].map((thread) => `event_loop_lag_seconds_count{thread="${thread}"}`);
    const isAll = counted["202"] === CONNECTIONS && counted["400"] === CONNECTIONS;
    return isAll && timed.every((line) => text.includes(line));
  });
  await service.line(/"listener":1/);
  const listeners = new Set(service.output().match(/"listener":\d/g));
  expect(listeners).toEqual(new Set(['"listener":1']));
});

test("what any of them accepts is delivered", async () => {
  const sent = await Promise.all(Array.from({ length: CONNECTIONS }, () => send({})));
  for (const { body } of sent) await delivered(body.message_id);
});

test("one key makes one message, whichever threads its repeats come to", async () => {
  const headers = { "Idempotency-Key": "one-and-only" };
  const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => send(headers)));
  expect(new Set(answers.map(({ body }) => body.message_id)).size).toBe(1);
  expect(answers.filter(({ replayed }) => !replayed)).toHaveLength(1);
});

test("what only one of them can answer is answered on every connection", async () => {
  const paths = ["/healthz", "/readyz", "/openapi.json", "/v1/sms/messages?limit=1", "/nowhere"];
  for (const path of paths) {
    const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => call(path)));
    const expected = path === "/nowhere" ? 404 : 200;
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => expected));
  }
  const tried = await Promise.all(Array.from({ length: CONNECTIONS }, () => send({}, { dry_run: true })));
  expect(tried.map(({ status, body }) => [status, body.dry_run])).toEqual(tried.map(() => [200, true]));
});

test("the files of /docs are answered by the thread that is asked, which has each in memory once", async () => {
  const answers = await Promise.all(
    Array.from({ length: CONNECTIONS }, () =>
      fetch(`${service.url}/docs/swagger-ui.css`, { keepalive: false }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
  await service.line(/"listener":1.*"path":"\/docs\/\{asset\}","status":200/);
});

test("a request with no Host, as HTTP/1.0 has it, or with one that is no host is answered by whichever thread it comes to", async () => {
  const { url, key } = target();
  const body = JSON.stringify({ to: "+919876543210", dlt_template_id: "1107160000000000001", dry_run: true });
  const head = `Authorization: Bearer ${key}\r\nConnection: close\r\n`;
  const requests = [
    "GET /healthz HTTP/1.0\r\n\r\n",
    `GET /v1/sms/messages?limit=1 HTTP/1.1\r\nHost: x:y\r\n${head}\r\n`,
    `POST /v1/sms/messages HTTP/1.1\r\nHost: a/b\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  ];
  for (const request of requests) {
    const heard = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => exchange(Number(new URL(url).port), request)),
    );
    expect(heard.map(statusOf)).toEqual(heard.map(() => 200));
    expect(heard.every((answer) => /x-request-id: /i.test(answer))).toBeTrue();
  }
});

test("a body with a byte order mark, and a length given twice, are read by whichever thread they come to", async () => {
  const { url, key } = target();
  const { account_id, push_app_id: app_id } = service.sandbox;
  const dryRun = { to: "+919876543210", dlt_template_id: "1107160000000000001", dry_run: true };
  const device = { account_id, app_id, platform: "fcm", token: "t" };
  for (const [path, json, status] of [
    ["/v1/sms/messages", dryRun, 200],
    ["/v1/push/register", device, 201],
  ] as const) {
    const body = `\xef\xbb\xbf${JSON.stringify(json)}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n`;
    for (const times of [1, 2]) {
      const request = `${head}${`Content-Length: ${body.length}\r\n`.repeat(times)}\r\n${body}`;
      const heard = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => exchange(Number(new URL(url).port), request)),
      );
      expect(heard.map(statusOf)).toEqual(heard.map(() => status));
    }
  }
});

test("a rate limit is one limit over all of them", async () => {
  const perSecond = 5;
  await limit(String(perSecond));
  const acceptedWithin = async (ms: number) => {
    const startedAt = performance.now();
    let accepted = 0;
    do accepted += (await burst()).filter((status) => status === 202).length;
    while (performance.now() - startedAt < ms);
    return { accepted, seconds: (performance.now() - startedAt) / 1_000 };
  };
  // Until both know of it, and what may come at once has come: a slow burst may find a place that has come free meanwhile.
  await until(async () => {
    const { accepted, seconds } = await acceptedWithin(0);
    return accepted <= perSecond * seconds + 1;
  });
  const { accepted, seconds } = await acceptedWithin(2_000);
  expect(accepted).toBeGreaterThan(0);
  expect(accepted).toBeLessThan(perSecond * seconds * 1.5);
  await limit(null);
  await until(async () => (await burst()).every((status) => status === 202));
});

async function burst(): Promise<readonly number[]> {
  const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => send({})));
  return answers.map(({ status }) => status);
}

interface Answer {
  readonly status: number;
  readonly replayed: boolean;
  readonly body: { message_id: string; status: string; dry_run?: boolean };
}

function send(headers: Record<string, string>, more = {}, at = target()): Promise<Answer> {
  const json = { to: "+919876543210", dlt_template_id: "1107160000000000001", ...more };
  return call("/v1/sms/messages", { method: "POST", headers, body: JSON.stringify(json) }, at);
}

function target() {
  return { url: service.url, key: service.sandbox.api_key };
}

async function call(path: string, init: RequestInit = {}, { url, key } = target()): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    ...init,
    keepalive: false,
    headers: {
      Authorization: `Bearer ${key}`,
      "Content-Type": "application/json",
      Connection: "close",
      ...(init.headers as Record<string, string>),
    },
  });
  const text = await response.text();
  return {
    status: response.status,
    replayed: response.headers.has("idempotent-replayed"),
    body: text.startsWith("{") ? JSON.parse(text) : {},
  };
}

async function limit(value: string | null): Promise<void> {
  const { account_id, admin_token } = service.sandbox;
  const path = `/admin/v1/settings/rate_limit_per_account?account_id=${account_id}`;
  const response = await fetch(`${service.url}${path}`, {
    method: "PUT",
    headers: { Authorization: `Bearer ${admin_token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ value }),
  });
  expect(response.status).toBe(200);
}

async function delivered(id: string): Promise<void> {
  await until(async () => (await call(`/v1/sms/messages/${id}`)).body.status === "delivered");
}

// From here on each has a process of its own, and all wait at the same time.

test.concurrent("a second service does not slip in on the port", async () => {
  const { code, output } = await runPostrider({
    args: ["--listeners", "2"],
    env: { PORT: new URL(service.url).port },
  });
  expect(code).toBe(1);
  expect(output).toContain("nothing can be served on");
}, 180_000);

test.concurrent("on SIGTERM every thread finishes, and the process ends with 0", async () => {
  const own = await startPostrider({ args: ["--listeners", "3"] });
  const key = own.sandbox.api_key;
  const sent = Array.from({ length: CONNECTIONS }, () => send({}, {}, { url: own.url, key }));
  await Promise.all(sent);
  own.kill("SIGTERM");
  expect(await own.exited).toBe(0);
}, 180_000);

testFiles(
  "without free files, what only one of them can answer is answered or put off on every open connection",
  async () => {
    const another = await startPostrider({ args: ["--listeners", "2"] });
    const port = Number(new URL(another.url).port);
    const wires = await Promise.all(Array.from({ length: CONNECTIONS }, () => dial(port)));
    const get = (path: string) =>
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${another.sandbox.api_key}\r\n\r\n`;
    for (const wire of wires) {
      wire.socket.write(get("/v1/sms/messages/none"));
      await wire.until(/message not found/);
    }
    const files = holdFreeFiles(another.pid);
    for (const wire of wires) {
      wire.socket.write(get("/v1/sms/messages"));
      expect(await wire.until(/"data":|"code":503/)).toMatch(/"data":|"code":503/);
    }
    files.letGo();
    expect((await fetch(`${another.url}/readyz`)).status).toBe(200);
    another.kill("SIGKILL");
    await another.exited;
  },
  180_000,
);

test.concurrent("requests that nobody finishes, on every thread, do not keep it from ending in time and cleanly", async () => {
  const another = await startPostrider({ args: ["--listeners", "2"] });
  const wires = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => dial(Number(new URL(another.url).port))),
  );
  const lines = [
    "POST /v1/sms/messages HTTP/1.1",
    "Host: localhost",
    `Authorization: Bearer ${another.sandbox.api_key}`,
    "Content-Length: 500",
  ];
  for (const { socket } of wires) socket.write(`${lines.join("\r\n")}\r\n\r\n{`);
  // Those that come after them are answered.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => fetch(`${another.url}/healthz`)));
  another.kill("SIGTERM");
  expect(await another.exited).toBe(0);
}, 180_000);

test.concurrent("clients that keep their requests waiting, on every thread, keep no other client waiting", async () => {
  const another = await startPostrider({ args: ["--listeners", "2"] });
  const port = Number(new URL(another.url).port);
  const keys = await Promise.all(Array.from({ length: 12 }, () => newKey(another)));
  const polls = keys.flatMap((key) =>
    Array.from({ length: 50 }, () => `GET /v1/events?wait=30 HTTP/1.1\r\nX-API-Key: ${key}\r\n`),
  );
  const bodies = Array.from(
    { length: 600 },
    () => "POST /v1/push/register HTTP/1.1\r\nContent-Length: 500\r\n",
  );
  const wires = await Promise.all(
    [...polls, ...bodies].map(async (head) => {
      const wire = await dial(port);
      wire.socket.write(`${head}Host: localhost\r\n\r\n`);
      return wire;
    }),
  );
  for (const path of ["/healthz", "/openapi.json"]) {
    const answers = Array.from({ length: CONNECTIONS }, () =>
      fetch(another.url + path, { keepalive: false, signal: AbortSignal.timeout(10_000) }),
    );
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual(answers.map(() => 200));
  }
  for (const { socket } of wires) socket.destroy();
  another.kill("SIGTERM");
  expect(await another.exited).toBe(0);
}, 180_000);

async function newKey({ url, sandbox }: PostriderProcess): Promise<string> {
  const add = async (kind: string, record: object) => {
    const response = await fetch(`${url}/admin/v1/${kind}`, {
      method: "POST",
      headers: { Authorization: `Bearer ${sandbox.admin_token}`, "Content-Type": "application/json" },
      body: JSON.stringify(record),
    });
    return (await response.json()) as { readonly id: string; readonly api_key: string };
  };
  const { id } = await add("accounts", { name: "waits", mode: "sandbox" });
  return (await add("keys", { account_id: id })).api_key;
}
