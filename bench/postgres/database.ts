/** A PostgreSQL of the measurement's own, on this machine's disk: it waits for the disk, as servers do. */
import { readdirSync, readFileSync } from "node:fs";
import { type Driver, openDriver } from "../../src/store/postgres/database/driver.ts";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { postgresServer } from "../../test/postgres-server.ts";
import { spentUs } from "../spent.ts";

/** Of a server that has its memory to itself; `fsync` and its like stay as they come. */
const SERVER = { shared_buffers: "2GB", max_wal_size: "8GB", autovacuum_naptime: "10s" };

const STATEMENT_MS = 3_600_000;

export interface Database {
  readonly url: string;
  readonly driver: Driver;
  counters(): Promise<Counters>;
}

export interface Counters {
  /** Unix milliseconds, of a clock that does not jump. */
  readonly atMs: number;
  /** Octets of WAL, of the whole server. */
  readonly wal: number;
  /** Microseconds of processor time of the server: all its processes, also those that have ended. */
  readonly serverUs: number;
  /** The same of this process. */
  readonly ownUs: number;
}

/** A database that stays, on a server of the caller's own on this machine. */
export interface Kept {
  /** Of the server. */
  readonly server: string;
  readonly name: string;
}

/** @param kept absent: a new one that goes with the process */
export async function openDatabase(kept?: Kept): Promise<Database> {
  const url = kept ? await keepDatabase(kept) : await newDatabase();
  const driver = openDriver({ url, connections: 2, statementMs: STATEMENT_MS });
  return { url, driver, counters: () => countersOf(driver) };
}

async function newDatabase(): Promise<string> {
  return (await (await postgresServer(prepare, SERVER)).createDatabase()).url;
}

async function keepDatabase({ server, name }: Kept): Promise<string> {
  const url = new URL(server);
  const admin = openDriver({ url: server, connections: 1 });
  const there = await admin.query("SELECT 1 FROM pg_database WHERE datname = $1", [name]);
  if (there.length === 0) await admin.hold((connection) => connection.exec(`CREATE DATABASE ${name}`));
  await admin.close();
  url.pathname = `/${name}`;
  await prepare(url.href);
  return url.href;
}

async function prepare(url: string): Promise<void> {
  const driver = openDriver({ url });
  await migrate(driver);
  await driver.close();
}

/** What a stretch of work came to, from the counters before it and after it. */
export function between(before: Counters, after: Counters, count: number) {
  const seconds = (after.atMs - before.atMs) / 1_000;
  return {
    seconds,
    perSecond: count / seconds,
    ownUs: (after.ownUs - before.ownUs) / count,
    serverUs: (after.serverUs - before.serverUs) / count,
    wal: (after.wal - before.wal) / count,
  };
}

async function countersOf(driver: Driver): Promise<Counters> {
  const [row] = await driver.query<{ wal: number; pid: number }>(
    "SELECT (pg_current_wal_lsn() - '0/0')::bigint AS wal, pg_backend_pid() AS pid",
  );
  const { user, system } = process.cpuUsage();
  const serverUs = treeUs(parentOf(row?.pid ?? 0));
  return { atMs: performance.now(), wal: row?.wal ?? 0, serverUs, ownUs: user + system };
}

/** Fields of /proc/PID/stat from the third on; the name before them may hold spaces. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number): number {
  return Number(statOf(pid)[1]);
}

/** Of the first process of the server, of those that it has waited for (fields 16 and 17), and of its children. */
function treeUs(pid: number): number {
  const [user = 0, system = 0] = statOf(pid).slice(13, 15).map(Number);
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isChild(Number(name), pid));
  const theirs = children.reduce((sum, child) => sum + spentUs(Number(child)), 0);
  return spentUs(pid) + (user + system) * 10_000 + theirs;
}

function isChild(pid: number, parent: number): boolean {
  try {
    return parentOf(pid) === parent;
  } catch {
    return false; // It has just ended.
  }
}
