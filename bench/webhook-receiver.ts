/**
 * A customer's receiver, in a process of its own: takes every webhook over HTTPS, and tells over HTTP how many and how
 * long after their events. Beside it a port that takes connections and never says a word.
 */
import { createServer } from "node:net";
import { hooksTls } from "../test/fakes/hooks-tls.ts";

let delays: number[] = [];

const hooks = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  tls: { key: hooksTls.key, cert: hooksTls.cert },
  async fetch(request) {
    const { data } = (await request.json()) as { data: { occurred_at: string } };
    delays.push(Date.now() - Date.parse(data.occurred_at));
    return new Response("ok");
  },
});
const told = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === "/count") return Response.json(delays.length);
    if (pathname === "/reset") delays = [];
    const sorted = delays.toSorted((a, b) => a - b);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
    return Response.json({ count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) });
  },
});

const silent = createServer((socket) => socket.on("error", () => {}));
silent.listen(0, "127.0.0.1", () => {
  const { port } = silent.address() as { port: number };
  console.log(JSON.stringify({ hooks: hooks.port, told: told.port, silent: port }));
});
