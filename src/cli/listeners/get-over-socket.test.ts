import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, renameSync, rmSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { createSystemClock } from "../system-clock.ts";
import { createGetOverSocket, type GetRequest } from "./get-over-socket.ts";

let folder = "";
let path = "";
let server: Server | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-get-"));
  path = join(folder, "socket");
});

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
  rmSync(folder, { recursive: true });
});

async function serve(onRequest: RequestListener): Promise<void> {
  const opened = createServer(onRequest);
  await new Promise<void>((resolve) => opened.listen(path, resolve));
  server = opened;
}

/** A socket on which nobody listens any more, as one that is too busy to accept looks to who connects. */
async function leaveSocket(): Promise<void> {
  await serve(() => {});
  renameSync(path, `${path}-kept`);
  await new Promise((resolve) => server?.close(resolve));
  renameSync(`${path}-kept`, path);
}

const ask = (given: Partial<GetRequest> = {}, clock = createSystemClock()) =>
  createGetOverSocket(
    path,
    clock,
  )({
    method: "GET",
    headers: new Headers(),
    signal: new AbortController().signal,
    ...given,
  });

test("a connection that is refused for a moment is tried again", async () => {
  await leaveSocket();
  const clock = createHeldClock();
  const answer = ask({}, clock);
  for (let tries = 0; tries < 3; tries++) {
    while (clock.pending() === 0) await new Promise((resolve) => setImmediate(resolve));
    if (tries < 2) await clock.advance(10);
  }
  rmSync(path);
  await serve((_, response) => response.end("here"));
  await clock.advance(10);
  expect(await (await answer).text()).toBe("here");
});

test("a connection that goes on being refused is given up, as is one that breaks off before an answer", async () => {
  await leaveSocket();
  const clock = createHeldClock();
  let isOver = false;
  const refused = ask({}, clock).catch((error: NodeJS.ErrnoException) => {
    isOver = true;
    return error.code;
  });
  let waitedMs = 0;
  while (!isOver) {
    if (clock.pending() > 0) {
      await clock.advance(10);
      waitedMs += 10;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([await refused, waitedMs]).toEqual(["ECONNREFUSED", 290]);
  rmSync(path);
  await serve(({ socket }) => socket.destroy());
  await expect(ask()).rejects.toThrow();
});

test("hundreds of requests wait for their answers side by side", async () => {
  const waiting: (() => void)[] = [];
  await serve((_, response) => {
    waiting.push(() => response.end("now"));
    if (waiting.length === MANY) for (const answer of waiting) answer();
  });
  const get = createGetOverSocket(path, createSystemClock());
  const { signal } = new AbortController();
  const answers = await Promise.all(
    Array.from({ length: MANY }, () => get({ method: "GET", headers: new Headers(), signal })),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
});

/** More than `fetch` allows a process. */
const MANY = 400;

test("headers of the request and the answer pass, each as often as it is given, and none that is about the connection", async () => {
  let heard: NodeJS.Dict<string | string[]> = {};
  await serve((request, response) => {
    heard = request.headers;
    response.setHeader("Set-Cookie", ["a=1", "b=2"]);
    response.setHeader("Keep-Alive", "timeout=5");
    response.setHeader("Connection", "close");
    response.end("body");
  });
  const headers = { accept: "text/plain", te: "trailers", connection: "x-note", "content-length": "4" };
  const answer = await ask({ headers: new Headers(headers) });
  expect(heard).toMatchObject({ accept: "text/plain" });
  expect([heard.te, heard["content-length"]]).toEqual([undefined, undefined]);
  expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
  expect([answer.headers.get("keep-alive"), answer.headers.get("connection")]).toEqual([null, "close"]);
  expect(await answer.text()).toBe("body");
});

test("the answer to HEAD says how long its body would be, and leaves the connection to the next request", async () => {
  await serve((_, response) => {
    response.setHeader("Content-Length", "4");
    response.end();
  });
  let connections = 0;
  server?.on("connection", () => connections++);
  const get = createGetOverSocket(path, createSystemClock());
  const { signal } = new AbortController();
  for (let count = 0; count < 3; count++) {
    const answer = await get({ method: "HEAD", headers: new Headers(), signal });
    expect([answer.status, answer.body, answer.headers.get("content-length")]).toEqual([200, null, "4"]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(connections).toBeLessThan(3);
});

test("a request that nobody waits for any more is ended at the other side too", async () => {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  await serve((_, response) => {
    response.on("close", left.resolve);
    arrived.resolve();
  });
  const leaving = new AbortController();
  const answer = ask({ signal: leaving.signal });
  await arrived.promise;
  leaving.abort();
  await expect(answer).rejects.toThrow();
  await left.promise;
});
