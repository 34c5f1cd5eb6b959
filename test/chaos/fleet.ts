/** The processes of a chaos run: killed, stopped, held up, cut off from their database, and started again. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPostgresProxy, type PostgresProxy } from "../fakes/postgres-proxy.ts";
import { freshDatabase } from "../postgres-database.ts";
import type { TestDatabase } from "../postgres-server.ts";
import { makeDataFolder, type PostriderProcess, type Sandbox, startPostrider } from "../postrider-process.ts";
import { inFile, onServer } from "../stored-rows.ts";

export type Store = "sqlite" | "postgres";

export interface Fleet {
  readonly nodes: readonly Node[];
  /** The time of the processes' clocks, in Unix milliseconds. */
  now(): number;
  /** Sets their clocks forward; resolves when all that run have done so. */
  leap(ms: number): Promise<void>;
  /** Lets no process have a heartbeat for `ms`. PostgreSQL only. */
  lockLeases(ms: number): Promise<void>;
  /** A running process; `undefined` if there is none. `pick` returns which of `count` it is. */
  some(pick: (count: number) => number): PostriderProcess | undefined;
  /** What was done to them, for reports. */
  readonly faults: readonly Fault[];
  note(fault: string): void;
  /** Starts all processes that do not run. Rejects if one has ended by itself. */
  heal(): Promise<void>;
  /** Ends them with SIGTERM; resolves with their exit codes. */
  stop(): Promise<readonly (number | null)[]>;
  /** How many rows a table of the store has. */
  rows(table: string): Promise<number>;
  /** What the processes, also those that have ended, logged as an error. */
  errors(): readonly string[];
  close(): Promise<void>;
}

export interface Fault {
  readonly atMs: number;
  readonly what: string;
}

export interface Node {
  readonly name: string;
  /** Resolves when it runs again; at once if it did not run. */
  kill(signal: "SIGKILL" | "SIGTERM", awayMs: number): Promise<void>;
  /** Stops the process with SIGSTOP, and continues it after `ms`. */
  holdUp(ms: number): Promise<void>;
  /** PostgreSQL only. */
  cutDatabase(how: "all" | "COMMIT" | "answer to COMMIT", ms: number): Promise<void>;
}

interface Running extends Node {
  process: PostriderProcess | undefined;
  readonly folder: ReturnType<typeof makeDataFolder>;
  readonly env: Readonly<Record<string, string>>;
  proxy: PostgresProxy | undefined;
  isHeldUp: boolean;
  isCutOff: boolean;
  /** Words about a process that has ended though nobody here asked it to. */
  ending: string | undefined;
}

/** In the order in which processes lock them: others would wait for one another. */
const lockingFor = (ms: number) =>
  `BEGIN; LOCK TABLE lease_processes, leases IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${ms / 1_000}); COMMIT`;

const LEAPING = fileURLToPath(new URL("./leaping.ts", import.meta.url));

/** Arguments of the program: each start takes the next ones. */
const ARGUMENTS: Readonly<Record<Store, readonly (readonly string[])[]>> = {
  sqlite: [[], ["--store-thread"]],
  postgres: [[]],
};

interface FleetState {
  readonly store: Store;
  readonly clockFile: string;
  readonly faults: Fault[];
  /** All that were started. */
  readonly processes: PostriderProcess[];
  database: TestDatabase | undefined;
  sandbox: Sandbox | undefined;
  aheadMs: number;
  starts: number;
}

/** `aheadMs`: how far ahead the processes' clocks are at the start. `envOf`: more variables for the process at this place. */
export async function startFleet(
  store: Store,
  aheadMs: number,
  envOf: (place: number) => Readonly<Record<string, string>> = () => ({}),
): Promise<Fleet> {
  const first = makeDataFolder();
  const world: FleetState = {
    store,
    clockFile: join(first.path, "clock"),
    faults: [],
    processes: [],
    database: store === "postgres" ? await freshDatabase() : undefined,
    sandbox: undefined,
    aheadMs,
    starts: 0,
  };
  writeFileSync(world.clockFile, String(aheadMs));
  const nodes = [createNode(world, { name: "one", folder: first, env: envOf(0) })];
  if (store === "postgres")
    nodes.push(createNode(world, { name: "two", folder: makeDataFolder(), env: envOf(1) }));
  for (const node of nodes) {
    await start(world, node);
    world.sandbox ??= node.process?.sandbox;
  }
  const note = (what: string) => void world.faults.push({ atMs: Date.now(), what });
  let leaping = Promise.resolve();
  return {
    nodes,
    now: () => Date.now() + world.aheadMs,
    leap(ms) {
      // One after the other: a process sees two signals at once as one.
      leaping = leaping.then(() => leap(world, nodes, ms));
      return leaping;
    },
    async lockLeases(ms) {
      if (!world.database) return;
      note(`leases locked for ${ms} ms`);
      await onServer(world.database.url, lockingFor(ms));
    },
    some(pick) {
      const there = nodes.flatMap(({ process }) => process ?? []);
      return there.length === 0 ? undefined : there[pick(there.length)];
    },
    faults: world.faults,
    note,
    heal: async () => void (await Promise.all(nodes.map((node) => heal(world, node)))),
    stop: () => Promise.all(nodes.map(stop)),
    async rows(table) {
      const { database } = world;
      const sql = `SELECT count(*) AS count FROM ${table}`;
      const [row] = await (database
        ? onServer<{ count: string }>(database.url, sql)
        : inFile<{ count: number }>(join(first.path, "postrider.db"), sql));
      return Number(row?.count);
    },
    errors: () => world.processes.flatMap((process) => process.output().split("\n").filter(isError)),
    async close() {
      for (const node of nodes) {
        node.process?.kill("SIGCONT");
        node.process?.kill("SIGKILL");
        await node.process?.exited;
        await node.proxy?.close();
        node.folder.remove();
      }
      await world.database?.drop();
    },
  };
}

function isError(line: string): boolean {
  return /"level":"(error|fatal)"/.test(line);
}

async function stop({ process }: Running): Promise<number | null> {
  process?.kill("SIGTERM");
  return (await process?.exited) ?? null;
}

function createNode(
  world: FleetState,
  { name, folder, env }: Pick<Running, "name" | "folder" | "env">,
): Running {
  const note = (what: string) => void world.faults.push({ atMs: Date.now(), what: `${what} ${name}` });
  const node: Running = {
    name,
    folder,
    env,
    process: undefined,
    proxy: undefined,
    isHeldUp: false,
    isCutOff: false,
    ending: undefined,
    async kill(signal, awayMs) {
      const { process } = node;
      if (!process || node.isHeldUp) return;
      note(signal);
      node.process = undefined;
      process.kill(signal);
      await process.exited;
      await Bun.sleep(awayMs);
      await start(world, node);
      note("started");
    },
    async holdUp(ms) {
      const { process } = node;
      if (!process || node.isHeldUp) return;
      note(`SIGSTOP for ${ms} ms`);
      node.isHeldUp = true;
      process.kill("SIGSTOP");
      await Bun.sleep(ms);
      process.kill("SIGCONT");
      note("end of SIGSTOP:");
      node.isHeldUp = false;
    },
    async cutDatabase(how, ms) {
      if (!world.database || !node.proxy || node.isCutOff) return;
      note(`database cut off (${how}, ${ms} ms):`);
      if (how !== "all") return void node.proxy.loseNext(how);
      const port = Number(new URL(node.proxy.url).port);
      node.isCutOff = true;
      await node.proxy.close();
      await Bun.sleep(ms);
      node.proxy = await openPostgresProxy(world.database.url, port);
      node.isCutOff = false;
    },
  };
  return node;
}

/** Tries again if it fails: the database may have been cut off during the start. */
async function start(world: FleetState, node: Running): Promise<void> {
  if (world.database) node.proxy ??= await openPostgresProxy(world.database.url);
  const { clockFile, store, sandbox } = world;
  const args = ARGUMENTS[store][world.starts++ % ARGUMENTS[store].length] ?? [];
  for (let tries = 1; !node.process; tries++) {
    try {
      node.process = await startPostrider({
        dataFolder: node.folder.path,
        preload: LEAPING,
        args,
        env: { ...node.env, CLOCK_FILE: clockFile },
        ...(node.proxy && { databaseUrl: node.proxy.url }),
        ...(sandbox && { sandbox }),
      });
      world.processes.push(node.process);
      watchEnd(node, node.process);
      // The clock may have been set since the process read it.
      node.process.kill("SIGUSR2");
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

/**
 * Such as one that got SIGHUP: the kernel sends it to a process group that the end of a shell leaves without a parent in its session
 * while one of its processes is stopped, and `nohup` does not reach so far.
 */
function watchEnd(node: Running, process: PostriderProcess): void {
  void process.exited.then((code) => {
    if (node.process === process)
      node.ending = `process ${process.pid} (${node.name}) ended by itself with ${code}:\n${process.output()}`;
  });
}

async function heal(world: FleetState, node: Running): Promise<void> {
  if (node.ending !== undefined) throw new Error(node.ending);
  if (!node.process) await start(world, node);
}

async function leap(world: FleetState, nodes: readonly Running[], ms: number): Promise<void> {
  world.aheadMs += ms;
  writeFileSync(world.clockFile, String(world.aheadMs));
  world.faults.push({ atMs: Date.now(), what: `leap of ${ms} ms` });
  const heard = nodes.flatMap(({ process, isHeldUp }) => {
    process?.kill("SIGUSR2");
    const line = new RegExp(`"leapt","ahead":${world.aheadMs}}`);
    // It may be killed before it says so.
    return process && !isHeldUp ? process.line(line).catch(() => process.exited) : [];
  });
  await Promise.all(heard);
}
