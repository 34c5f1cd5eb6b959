/** A command that works on all of the data is ended by Ctrl-C, by a supervisor, or by nothing that it hears of. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, statSync, watch, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { Client } from "pg";
import { type Lifeline, takeLifeline } from "../../src/cli/data-folder/lifeline.ts";
import { firstUuidAt } from "../../src/core/uuid.ts";
import { holdChange } from "../fakes/held-table.ts";
import { ownProcess } from "../one-process.ts";
import { freshDatabase } from "../postgres-database.ts";
import { onPostgres, runPostrider, type StartOptions, startCommand } from "../postrider-process.ts";
import { until } from "../until.ts";

/** So large that copying it takes longer than a signal needs. */
const FILLER_OCTETS = 50_000_000;

/** A data folder whose service is stopped, with a large database, and a place for backups. */
async function openWorld({ fillerOctets = FILLER_OCTETS } = {}) {
  const own = ownProcess("sqlite");
  const data = join(own.folder(), "data");
  const backups = join(own.folder(), "backups");
  mkdirSync(backups);
  await own.start({ dataFolder: data });
  await own.stop();
  const database = new Database(join(data, "postrider.db"));
  database.run(`CREATE TABLE filler AS SELECT zeroblob(${fillerOctets}) AS octets`);
  database.close();
  const to = join(backups, "copy");
  return {
    ...own,
    data,
    backups,
    to,
    backup: { dataFolder: data, command: "backup", args: ["--to", to, "--with-key"] },
  };
}

type Command = StartOptions & { readonly command: string };

/** Starts a command, and ends it with a signal once a file or folder has appeared whose name begins so. */
async function cutOff(command: Command, signal: NodeJS.Signals, folder: string, start: string) {
  const appeared = appearsIn(folder, start);
  const { kill, exited, output } = startCommand(command);
  const path = join(folder, await appeared);
  // A draft is known to be a backup's before its first file is.
  if (statSync(path).isDirectory()) await appearsIn(path, "postrider.db");
  kill(signal);
  return { code: await exited, output: output().replaceAll(PROGRESS, "") };
}

/** What the command says once it has taken more than a second, as on a busy machine. */
const PROGRESS = /^(?:(?:copied|read for checksums): .+ MiB|checking the copy)\n/gm;

function appearsIn(folder: string, start: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const watcher = watch(folder, (_, name) => name?.startsWith(start) && resolve(name));
  const there = readdirSync(folder).find((name) => name.startsWith(start));
  if (there !== undefined) resolve(there);
  return promise.finally(() => watcher.close());
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const) {
  test(`a backup that ${signal} ends leaves nothing, and says so`, async () => {
    await using world = await openWorld();
    const { backup, backups } = world;
    const ended = await cutOff(backup, signal, backups, "copy.partial-");
    expect(ended).toEqual({
      code,
      output: `error: ended by ${signal}: no backup was made, and nothing is left of it\n`,
    });
    expect(readdirSync(backups)).toEqual([]);
    expect(await runPostrider(backup)).toMatchObject({ code: 0 });
    expect(readdirSync(backups)).toEqual(["copy"]);
  }, 180_000);
}

test("what a killed backup has left is deleted by the next one, and a copy of it is only named", async () => {
  await using world = await openWorld();
  const { backup, backups, to } = world;
  expect(await cutOff(backup, "SIGKILL", backups, "copy.partial-")).toMatchObject({ code: null });
  const [left = ""] = readdirSync(backups);
  const copied = `${to}.partial-copied`;
  cpSync(join(backups, left), copied, { recursive: true, preserveTimestamps: true });
  const { code, output } = await runPostrider(backup);
  expect(output).toContain(`deleted ${join(backups, left)}, which a backup that was cut off had left\n`);
  expect(output).toContain(`${copied} may be left of a backup that was cut off`);
  expect(code).toBe(0);
  expect(readdirSync(backups).toSorted()).toEqual(["copy", "copy.partial-copied"]);
  expect(readdirSync(to).toSorted()).toEqual(["backup.json", "master.key", "postrider.db", "sandbox.json"]);
}, 180_000);

test("of the folders beside a backup none is deleted that somebody uses, and those that are no backup's are not even named", async () => {
  await using world = await openWorld({ fillerOctets: 1 });
  const { backup, backups } = world;
  const held: Lifeline[] = [];
  const make = (name: string, lifeline: string | undefined, ...files: string[]) => {
    const folder = join(backups, name);
    mkdirSync(folder);
    for (const file of files) writeFileSync(join(folder, file), "");
    if (lifeline !== undefined) held.push(takeLifeline(folder, lifeline));
  };
  const releaseAll = () => {
    for (const each of held.splice(0)) each.release();
  };
  writeFileSync(join(backups, "video.partial-abc123"), "");
  make("photos.partial-abc123", undefined, "one.jpg", "backup.json");
  make("empty.partial-abc123", undefined);
  make("worker.partial-node01", firstUuidAt(0), "master.key", "sandbox.json");
  make("served.partial-abc123", "backup", "postrider.db", "postrider.lock");
  make("opened.partial-abc123", "backup", "postrider.db", "postrider.db-wal", "postrider.db-shm");
  make("tables.partial-abc123", "backup", "accounts.jsonl.gz", "backup.json", "process-backup.new");
  releaseAll();
  make("unsure.partial-abc123", undefined, "postrider.db");
  make("living.partial-abc123", "backup", "postrider.db");

  const { code, output } = await runPostrider(backup);
  releaseAll();
  expect(code).toBe(0);
  const told = [...output.matchAll(/^(deleted )?\S+\/(\w+)\.partial-/gm)].map(
    ([, did = "", name]) => did + name,
  );
  expect(told.toSorted()).toEqual(["deleted tables", "opened", "served", "unsure"]);
  expect(readdirSync(backups).toSorted()).toEqual(
    [
      "copy",
      "empty.partial-abc123",
      "living.partial-abc123",
      "opened.partial-abc123",
      "photos.partial-abc123",
      "served.partial-abc123",
      "unsure.partial-abc123",
      "video.partial-abc123",
      "worker.partial-node01",
    ].toSorted(),
  );
}, 180_000);

test("of a restore that a signal ends nothing is left; on one that was killed no service starts until it is done again", async () => {
  await using world = await openWorld();
  const { backup, folder, to, start } = world;
  expect(await runPostrider(backup)).toMatchObject({ code: 0 });
  const dataFolder = join(folder(), "elsewhere");
  mkdirSync(dataFolder);
  const restore = { dataFolder, command: "restore", args: ["--from", to] };
  const draft = "postrider.db.restoring";

  const ended = await cutOff(restore, "SIGTERM", dataFolder, draft);
  expect(ended).toEqual({
    code: 143,
    output: "error: ended by SIGTERM: nothing was restored: run the command again\n",
  });
  expect(existsSync(join(dataFolder, draft))).toBe(false);

  expect(await cutOff(restore, "SIGKILL", dataFolder, draft)).toMatchObject({ code: null });
  expect(await runPostrider({ dataFolder })).toMatchObject({
    code: 1,
    output: expect.stringContaining("is under way or was cut off: wait for it, run it again"),
  });
  expect(await runPostrider(restore)).toMatchObject({ code: 0 });
  expect(existsSync(join(dataFolder, draft))).toBe(false);
  await start({ dataFolder });
}, 180_000);

test("on PostgreSQL a second backup or restore is refused, and a signal ends the first, and a rotation of the key, with words on what is left", async () => {
  await using own = ownProcess("sqlite");
  const [database, other] = await Promise.all([freshDatabase(), freshDatabase()]);
  const backups = join(own.folder(), "backups");
  const to = join(backups, "copy");
  await own.start({ databaseUrl: database.url });
  await own.stop();
  mkdirSync(backups);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const on = (databaseUrl: string, command: string, ...args: string[]) => ({
    dataFolder: own.folder(),
    databaseUrl,
    command,
    args,
  });

  await client.query("BEGIN; LOCK messages");
  const backup = on(database.url, "backup", "--to", to);
  const waits = "SELECT 1 FROM pg_locks WHERE NOT granted";
  const backingUp = startCommand(backup);
  await until(async () => (await client.query(waits)).rowCount);
  expect(readdirSync(backups)).toEqual([expect.stringContaining("copy.partial-")]);
  expect(await runPostrider(backup)).toEqual({
    code: 1,
    output: `error: another process is making the backup ${to}: wait for it, or name another with --to\n`,
  });
  backingUp.kill("SIGINT");
  expect([await backingUp.exited, backingUp.output()]).toEqual([
    130,
    "error: ended by SIGINT: no backup was made, and nothing is left of it\n",
  ]);
  expect(readdirSync(backups)).toEqual([]);
  await client.query("COMMIT");
  expect(await runPostrider(backup)).toMatchObject({ code: 0 });

  await client.query("BEGIN; SELECT 1 FROM meta FOR UPDATE");
  const env = { ...onPostgres(database.url), POSTRIDER_NEW_SECRET: "the next secret, of some length" };
  const rotation = startCommand({ dataFolder: own.folder(), command: "rotate-key", env });
  await until(async () => (await client.query(waits)).rowCount);
  rotation.kill("SIGINT");
  expect([await rotation.exited, rotation.output()]).toEqual([
    130,
    "error: ended by SIGINT: nothing was changed\n",
  ]);
  await client.query("COMMIT");
  await client.end();

  const held = await holdChange(other.url, "BEFORE INSERT ON accounts FOR EACH STATEMENT");
  const restore = on(other.url, "restore", "--from", to);
  const restoring = startCommand(restore);
  await held.waitedFor();
  expect(await runPostrider(restore)).toEqual({
    code: 1,
    output:
      "error: another restore or move into this database is under way: wait for its end, or take another database\n",
  });
  restoring.kill("SIGTERM");
  expect([await restoring.exited, restoring.output()]).toEqual([
    143,
    expect.stringMatching(/ended by SIGTERM: the database is not complete, .* run the command again\n$/),
  ]);
  await held.letGo();
  expect(await runPostrider(restore)).toMatchObject({ code: 0 });
  await Promise.all([database.drop(), other.drop()]);
}, 180_000);

test("a restore or a move that a signal ends before the database has anything of it says that nothing was done", async () => {
  await using own = ownProcess("sqlite");
  const database = await freshDatabase();
  const to = join(own.folder(), "copy");
  await own.start({ databaseUrl: database.url });
  await own.stop();
  const on = { dataFolder: own.folder(), databaseUrl: database.url };
  expect(await runPostrider({ ...on, command: "backup", args: ["--to", to] })).toMatchObject({ code: 0 });
  const moved = join(own.folder(), "moved");
  await own.start({ dataFolder: moved });
  await own.stop();
  for (const command of ["restore", "migrate-to"]) {
    const asked = Promise.withResolvers<void>();
    const silent = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => asked.resolve());
    });
    await once(silent.listen(0, "127.0.0.1"), "listening");
    const url = `postgres://postrider@127.0.0.1:${(silent.address() as AddressInfo).port}/silent`;
    const started = startCommand(
      command === "restore"
        ? { ...on, databaseUrl: url, command, args: ["--from", to] }
        : { dataFolder: moved, command, args: [url] },
    );
    await asked.promise;
    started.kill("SIGTERM");
    expect([await started.exited, started.output()]).toEqual([
      143,
      "error: ended by SIGTERM: nothing was done\n",
    ]);
    silent.close();
  }
  await database.drop();
}, 180_000);

test("a move to PostgreSQL that a signal ends says that it goes on where it was", async () => {
  await using own = ownProcess("sqlite");
  const database = await freshDatabase();
  await own.start();
  await own.stop();
  const held = await holdChange(database.url, "BEFORE INSERT ON accounts FOR EACH STATEMENT");
  const move = { dataFolder: own.folder(), command: "migrate-to", args: [database.url] };
  const moving = startCommand(move);
  await held.waitedFor();
  moving.kill("SIGINT");
  expect([await moving.exited, moving.output()]).toEqual([
    130,
    expect.stringMatching(
      /ended by SIGINT: .*run the command again, and it goes on behind what is copied\n$/,
    ),
  ]);
  await held.letGo();
  expect(await runPostrider(move)).toMatchObject({ code: 0 });
  await database.drop();
}, 180_000);
