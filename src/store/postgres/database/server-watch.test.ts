import { expect, test } from "bun:test";
import { createConnection, createServer, type Socket } from "node:net";
import { startPair } from "../../../../test/postgres-pair.ts";
import { until } from "../../../../test/until.ts";
import { createSystemClock } from "../../../cli/system-clock.ts";
import { openDriver } from "./driver.ts";
import { openClosable } from "./transactions.ts";

/** A proxy that goes on with the connections it has when it leads elsewhere, as some do. */
async function openWay(toSocket: string) {
  let to = toSocket;
  const sockets = new Map<Socket, string>();
  const server = createServer((near) => {
    const far = createConnection(to);
    sockets.set(near, to);
    for (const socket of [near, far]) {
      socket.on("error", () => undefined);
      socket.on("close", () => [near, far].map((each) => each.destroy()));
    }
    near.on("close", () => sockets.delete(near));
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as { readonly port: number };
  const those = (socket: string) => [...sockets].filter(([, one]) => one === socket).map(([near]) => near);
  return {
    url: `postgres://postrider@127.0.0.1:${port}/postgres`,
    count: (socket: string) => those(socket).length,
    leadTo(socket: string) {
      to = socket;
    },
    cutOne: (socket: string) => those(socket)[0]?.destroy(),
    close: () => server.close(),
  };
}

function socketOf(url: string): string {
  return `${decodeURIComponent(/@([^/]*)\//.exec(url)?.[1] ?? "")}/.s.PGSQL.5432`;
}

test("once a connection has led to another server, those to the former one are used no more, though it goes on", async () => {
  const pair = await startPair();
  const former = socketOf(pair.primaryUrl());
  const way = await openWay(former);
  const { database, close } = openClosable(openDriver({ url: way.url, connections: 4 }), createSystemClock());
  const begin = () => database.transaction((session) => session.query("SELECT 1"));
  const beginFour = () => Promise.all([begin(), begin(), begin(), begin()]);
  await beginFour();
  expect(way.count(former)).toBe(4);

  await pair.promote();
  const successor = socketOf(pair.primaryUrl());
  way.leadTo(successor);
  way.cutOne(former);
  await until(
    () => way.count(former),
    (left) => left === 3,
  );
  await beginFour();
  await beginFour();
  await until(
    () => way.count(former),
    (left) => left === 0,
  );
  expect(way.count(successor)).toBeGreaterThan(0);
  await close();
  way.close();
  await pair.close();
}, 120_000);

test("what has begun on the former server before is not committed there either, but runs again on the other", async () => {
  const pair = await startPair();
  const way = await openWay(socketOf(pair.primaryUrl()));
  const { database, close } = openClosable(openDriver({ url: way.url, connections: 4 }), createSystemClock());
  await database.query("CREATE TABLE stored (run int)");
  await database.transaction((session) => session.query("SELECT 1"));
  let run = 0;
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const underWay = database.transaction(async (session) => {
    run++;
    await session.query("INSERT INTO stored VALUES ($1)", [run]);
    await held;
  });
  await until(() => run === 1);

  await pair.goAsynchronous();
  await pair.promote();
  way.leadTo(socketOf(pair.primaryUrl()));
  await database.transaction((session) => session.query("SELECT 1"));
  goOn();
  await underWay;
  expect(await database.query("SELECT run FROM stored")).toEqual([{ run: 2 }]);
  await close();
  way.close();
  await pair.close();
}, 120_000);
