/** Clients that ask for a long answer and read nothing of it. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect } from "node:net";
import { onEveryStore, type RunningApi } from "../acceptance/running-api.ts";
import { until } from "../until.ts";

const MIB = 1024 * 1024;
const LENGTH = 8 * MIB;
const CLIENTS = 60;
/** A copy for each of them would be eight times this. */
const MAX_GROWTH = 60 * MIB;

onEveryStore((start) => {
  for (const path of ["/docs/swagger-ui.css", "/openapi.json"]) {
    test(`${path} is in memory once, however many are slow to read it`, async () => {
      const asset = new Uint8Array(LENGTH).fill(0x20);
      // Of characters that have to be encoded.
      const long = { ...PING, summary: "é".repeat(LENGTH / 2) };
      await using api = await start({ deps: { docsAsset: async () => asset, adminEndpoints: [long] } });
      expect((await api.get(path)).text.length).toBeGreaterThanOrEqual(LENGTH / 2);
      Bun.gc(true);
      const before = process.memoryUsage.rss();
      const sockets = await Promise.all(Array.from({ length: CLIENTS }, () => ask(api, path)));
      await until(() => api.observed.length > CLIENTS);
      expect((await api.get("/healthz")).status).toBe(200);
      expect(process.memoryUsage.rss() - before).toBeLessThan(MAX_GROWTH);
      for (const socket of sockets) socket.destroy();
    });
  }
});

const PING = {
  method: "GET",
  path: "/admin/v1/ping",
  operation: "ping",
  tag: "Operation",
  auth: "none",
  responses: {},
  handle: () => new Response(),
} as const;

async function ask(api: RunningApi, path: string) {
  const socket = connect(api.port, "127.0.0.1");
  socket.pause();
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  return socket;
}
