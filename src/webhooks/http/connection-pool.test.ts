import { afterEach, expect, test } from "bun:test";
import type { Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { createHeldClock } from "../../../test/fakes/held-clock.ts";
import { hooksTls } from "../../../test/fakes/hooks-tls.ts";
import { startRawPeer } from "../../../test/fakes/raw-peer.ts";
import { until } from "../../../test/until.ts";
import type { Connection } from "./connection.ts";
import { createConnectionPool } from "./connection-pool.ts";

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

async function start({ maxOpen = 10 } = {}) {
  const sockets: Socket[] = [];
  const peer = await startRawPeer((socket) => sockets.push(socket), { overTls: true });
  const clock = createHeldClock();
  const secureContext = createSecureContext({ ca: hooksTls.ca });
  const pool = createConnectionPool({ clock, secureContext, maxOpen });
  const endpoint = { address: "127.0.0.1", port: peer.port, servername: "hooks.test" };
  const opened: Connection[] = [];
  ending.push(async () => {
    pool.close();
    for (const connection of opened) connection.close();
    await peer.stop();
  });
  /** Resolves when both sides have it. */
  const open = async () => {
    const connection = pool.open(endpoint);
    opened.push(connection);
    await new Promise<void>((onOpen, reject) => {
      connection.listen({ onOpen, onData: () => {}, onGone: (error) => reject(error ?? new Error("gone")) });
    });
    connection.listen(undefined);
    await until(() => sockets.length === opened.length);
    return connection;
  };
  return { pool, clock, endpoint, sockets, open };
}

/** Until nothing is kept for the endpoint any more. */
async function lost({ pool, endpoint }: Awaited<ReturnType<typeof start>>): Promise<void> {
  const isLost = () => {
    const kept = pool.take(endpoint);
    if (kept) pool.giveBack(endpoint, kept);
    return !kept;
  };
  await until(isLost);
}

test("the connection used last is taken first, and none by two at once", async () => {
  const { pool, endpoint, open } = await start();
  const [first, second] = [await open(), await open()];
  pool.giveBack(endpoint, first);
  pool.giveBack(endpoint, second);
  expect(pool.take({ ...endpoint, servername: "other.test" })).toBeUndefined();
  expect(pool.take(endpoint)).toBe(second);
  expect(pool.take(endpoint)).toBe(first);
  expect(pool.take(endpoint)).toBeUndefined();
});

test("an idle connection is kept for four seconds, whatever happens to others", async () => {
  const { pool, endpoint, clock, open } = await start();
  const [first, second] = [await open(), await open()];
  pool.giveBack(endpoint, first);
  await clock.advance(3_000);
  pool.giveBack(endpoint, second);
  await clock.advance(1_000);
  expect(pool.take(endpoint)).toBe(second);
  expect(pool.take(endpoint)).toBeUndefined();
  await clock.advance(3_000);
  expect(clock.pending()).toBe(0);
});

test("an idle connection on which anything comes unasked, or that ends, is not used again", async () => {
  const rig = await start();
  rig.pool.giveBack(rig.endpoint, await rig.open());
  rig.sockets[0]?.write("HTTP/1.1 200 OK\r\n\r\n");
  await lost(rig);
  rig.pool.giveBack(rig.endpoint, await rig.open());
  rig.sockets[1]?.end();
  await lost(rig);
  expect(rig.sockets).toHaveLength(2);
});

test("beyond the limit the one idle for longest makes room", async () => {
  const { pool, endpoint, open } = await start({ maxOpen: 2 });
  const [first, second] = [await open(), await open()];
  pool.giveBack(endpoint, first);
  pool.giveBack(endpoint, second);
  const third = await open();
  expect(pool.take(endpoint)).toBe(second);
  expect(pool.take(endpoint)).toBeUndefined();
  pool.giveBack(endpoint, third);
});

test("after close nothing is kept", async () => {
  const { pool, endpoint, clock, open } = await start();
  const [first, second] = [await open(), await open()];
  pool.giveBack(endpoint, first);
  pool.close();
  pool.giveBack(endpoint, second);
  expect(pool.take(endpoint)).toBeUndefined();
  expect(clock.pending()).toBe(0);
});
