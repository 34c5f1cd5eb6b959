/** What a listener thread hands over the socket, and what the main thread gets of it. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { AnswerRequest } from "../../api/app-deps.ts";
import { listenOnSocket } from "../http/listen.ts";
import { createSystemClock } from "../system-clock.ts";
import { answerForwarded, createForward } from "./forward.ts";

let folder = "";
let stop = () => {};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "postrider-forward-"));
});

afterEach(() => {
  stop();
  rmSync(folder, { recursive: true });
});

function openForward(answer: AnswerRequest): (request: Request) => Promise<Response> {
  const path = join(folder, "socket");
  const server = listenOnSocket(path, answerForwarded(answer));
  stop = server.stop;
  const forward = createForward(path, createSystemClock(), { ids: () => "made", threads: 1 });
  return (request) => forward(request, () => "192.0.2.7");
}

for (const method of ["GET", "POST"]) {
  test(`a ${method} arrives with its own URL, headers and address, whatever a client says that they are`, async () => {
    const forward = openForward(async (request, addressOf) =>
      Response.json([
        request.method,
        request.url,
        addressOf(request),
        request.headers.get("x-note"),
        [...request.headers.keys()].filter((name) => name.startsWith("x-postrider")),
        await request.text(),
      ]),
    );
    const url = "http://api.example.com/admin/v1/accounts?limit=2";
    const headers = {
      "x-note": "theirs",
      "x-postrider-url": "http://api.example.com/metrics",
      "x-postrider-address": "127.0.0.1",
    };
    const body = method === "POST" ? "a body" : undefined;
    const answer = await forward(new Request(url, { method, headers, ...(body && { body }) }));
    expect(await answer.json()).toEqual([method, url, "192.0.2.7", "theirs", [], body ?? ""]);
  });

  test(`the answer to a ${method} comes as it is: a redirect, and a body that is compressed`, async () => {
    const packed = gzipSync("packed");
    const forward = openForward(async ({ url }) =>
      url.endsWith("/old")
        ? new Response(null, { status: 307, headers: { location: "/new" } })
        : new Response(packed, { headers: { "content-encoding": "gzip" } }),
    );
    const ask = (path: string) => forward(new Request(`http://api.example.com${path}`, { method }));
    const moved = await ask("/old");
    expect([moved.status, moved.headers.get("location")]).toEqual([307, "/new"]);
    const answer = await ask("/new");
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(Buffer.from(await answer.arrayBuffer()).equals(packed)).toBe(true);
  });
}

/** The most requests under way of clients without a key. */
const ANONYMOUS = 128;

test("clients without a key use some of the ways to the main thread only, and each is free again afterwards", async () => {
  let held: (() => void)[] = [];
  let look = () => {};
  const forward = openForward(async ({ url }) => {
    if (url.includes("/admin/v1/accounts")) return new Response("at once");
    await new Promise<void>((resolve) => {
      held.push(resolve);
      look();
    });
    return new Response("later");
  });
  const post = (path: string) =>
    forward(new Request(`http://api.example.com${path}`, { method: "POST", body: "{}" }));
  const areHeld = (count: number) =>
    new Promise<void>((resolve) => {
      look = () => held.length === count && resolve();
      look();
    });
  for (let round = 0; round < 2; round++) {
    held = [];
    const answers = Array.from({ length: ANONYMOUS + 1 }, () => post("/v1/push/register"));
    await areHeld(ANONYMOUS);
    expect(await (await post("/admin/v1/accounts")).text()).toBe("at once");
    // The one too many has had its chance.
    expect(held).toHaveLength(ANONYMOUS);
    const full = areHeld(ANONYMOUS + 1);
    held[0]?.();
    await full;
    for (const answer of held) answer();
    for (const answer of await Promise.all(answers)) expect(await answer.text()).toBe("later");
  }
});
