/**
 * The only process on a PostgreSQL is killed, and started again on its data folder, as every supervisor does. It need not wait
 * long whether its predecessor turns up: what that had on the wire is found, and sent. A copy of the folder proves nothing.
 */
import { expect, test } from "bun:test";
import { cpSync, readdirSync } from "node:fs";
import { Client } from "pg";
import { DEAD_MS, HEARTBEAT_MS } from "../../src/delivery/shares/shares.ts";
import { reached } from "../admin.ts";
import { startFakeSmsc } from "../fakes/fake-smsc.ts";
import { connectSmsc, openLiveSms } from "../live-sms.ts";
import { freshDatabase } from "../postgres-database.ts";
import { makeDataFolder, type PostriderProcess, startPostrider } from "../postrider-process.ts";
import { until } from "../until.ts";

/** A database, an SMSC that answers nothing until it is released, and services, each on a folder. */
async function openWorld() {
  const [database, smsc] = await Promise.all([
    freshDatabase(),
    startFakeSmsc({ receipts: "after", holdSubmits: true }),
  ]);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const folders = [makeDataFolder(), makeDataFolder()] as const;
  const services: PostriderProcess[] = [];
  const board = async () =>
    (
      await client.query<{ id: string; turn: string }>("SELECT id, turn FROM lease_processes ORDER BY id")
    ).rows.map(({ id, turn }) => ({ id, turn: Number(turn) }));
  return {
    smsc,
    folders: folders.map(({ path }) => path) as [string, string],
    async start(dataFolder: string, first?: PostriderProcess): Promise<PostriderProcess> {
      const options = { dataFolder, databaseUrl: database.url, ...(first && { sandbox: first.sandbox }) };
      const service = await startPostrider(options);
      services.push(service);
      return service;
    },
    /** The live processes, the oldest first, each with the number of its last heartbeat: numbers rise by one for any heartbeat. */
    board,
    /** Resolves after that many more heartbeats, of whichever process. */
    async turned(times: number): Promise<void> {
      const newest = async () => Math.max(...(await board()).map(({ turn }) => turn));
      const before = await newest();
      await until(newest, (turn) => turn >= before + times);
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) service.kill("SIGKILL");
      await Promise.all(services.map((service) => service.exited));
      await Promise.all([smsc.close(), client.end()]);
      await database.drop();
      for (const folder of folders) folder.remove();
    },
  };
}

test.concurrent("what a process had on the wire when it was killed is sent again soon after it is started again", async () => {
  await using world = await openWorld();
  const { smsc, start, folders } = world;
  const one = await start(folders[0]);
  const live = await openLiveSms(one, { connectors: [await connectSmsc(one, smsc, { binds: 2 })] });
  const code = await live.send("+14155550901");
  await smsc.until(() => smsc.submits.length === 1);
  one.kill("SIGKILL");
  await one.exited;
  await smsc.until(() => smsc.connections() === 0);
  smsc.dial.holdSubmits = false;

  const [dead] = await world.board();
  const two = await start(folders[0], one);
  const without = await until(world.board, (processes) => processes.every(({ id }) => id !== dead?.id));
  // Counted in heartbeats, one a second, not by the clock: a process that is only not seen is declared dead after twelve.
  expect((without[0]?.turn ?? 0) - (dead?.turn ?? 0)).toBeLessThan(DEAD_MS / HEARTBEAT_MS - 4);
  expect(await reached(two, code, "delivered", "failed")).toMatchObject({ status: "delivered" });
  expect(smsc.submits).toHaveLength(2);
}, 120_000);

test.concurrent("a process that is started on a copy of another's data folder does not take it for dead", async () => {
  await using world = await openWorld();
  const { smsc, start, folders } = world;
  const one = await start(folders[0]);
  const live = await openLiveSms(one, { connectors: [await connectSmsc(one, smsc, { binds: 2 })] });
  const code = await live.send("+14155550902");
  await smsc.until(() => smsc.submits.length === 1);
  cpSync(folders[0], folders[1], { recursive: true });
  expect(readdirSync(folders[1]).filter((name) => name.startsWith("process-"))).toHaveLength(1);

  // A process with heartbeats lives, whatever is said: so it stands still, for less than the twelve heartbeats after which it is declared dead for that.
  one.kill("SIGSTOP");
  await start(folders[1], one);
  await world.turned(5);
  expect(await world.board()).toHaveLength(2);
  one.kill("SIGCONT");
  smsc.release();
  expect(await reached(one, code, "delivered", "failed")).toMatchObject({ status: "delivered" });
  expect(smsc.submits).toHaveLength(1);
}, 120_000);
