/** Two PostgreSQL servers: a primary, and a synchronous standby, which has every commit before it is answered. */
import type { ChildProcess } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { binaries, ended, initialize, isRoot, OTHER_USER, run, said } from "./postgres-server.ts";
import { until } from "./until.ts";

export interface PostgresPair {
  /** Names both. */
  readonly url: string;
  /** The one that takes writes alone. */
  primaryUrl(): string;
  /** Kills all processes of the primary with SIGKILL. */
  killPrimary(): Promise<void>;
  /** Makes the primary read-only for everybody, connected already or not; resolves when transactions begun before have ended. */
  fencePrimary(): Promise<void>;
  /** From now on commits do not wait for the standby, which has all that was committed before. */
  goAsynchronous(): Promise<void>;
  /** Leaves the standby behind: it gets nothing more, and commits that wait for it go on waiting. */
  detachStandby(): Promise<void>;
  /** Promotes the standby. */
  promote(): Promise<void>;
  /** Starts the killed server again, as the standby of the other; resolves when commits wait for it. */
  rejoin(): Promise<void>;
  /** Stops the primary as an operator does, and starts it again. */
  restartPrimary(): Promise<void>;
  close(): Promise<void>;
}

interface Server {
  readonly folder: string;
  child: ChildProcess | undefined;
}

const DATABASE = "postgres";

export async function startPair(): Promise<PostgresPair> {
  const bin = binaries();
  let [primary, standby] = [makeServer(), makeServer()];
  const shells: Server[] = [];
  const url = `postgres://postrider@${[primary, standby].map(hostOf).join(",")}/${DATABASE}`;
  await initialize(bin, primary.folder);
  await serve(bin, primary);
  await attach(bin, { primary, standby });
  return {
    url,
    primaryUrl: () => urlOf(primary),
    async killPrimary() {
      for (const pid of await processesOf(primary)) killIfThere(pid);
      await stop(primary);
    },
    async fencePrimary() {
      const client = new Client({ connectionString: urlOf(primary) });
      await client.connect();
      await client.query("ALTER SYSTEM SET default_transaction_read_only = on");
      await client.query("SELECT pg_reload_conf()");
      const { rows } = await client.query<{ at: string }>("SELECT clock_timestamp()::text AS at");
      const begun = `SELECT 1 FROM pg_stat_activity
        WHERE xact_start <= $1 AND backend_type = 'client backend' AND pid <> pg_backend_pid()`;
      await until(() => client.query(begun, [rows[0]?.at]), isEmpty);
      await client.end();
    },
    async goAsynchronous() {
      const client = new Client({ connectionString: urlOf(primary) });
      await client.connect();
      await client.query("ALTER SYSTEM SET synchronous_standby_names = ''");
      await client.query("SELECT pg_reload_conf()");
      const names = () =>
        client.query<{ is: string }>("SELECT current_setting('synchronous_standby_names') AS is");
      await until(names, ({ rows }) => rows[0]?.is === "");
      await client.end();
    },
    async detachStandby() {
      const clients = [primary, standby].map((server) => new Client({ connectionString: urlOf(server) }));
      const [first, second] = clients as [Client, Client];
      await Promise.all(clients.map((client) => client.connect()));
      await second.query("ALTER SYSTEM SET primary_conninfo = ''");
      await second.query("SELECT pg_reload_conf()");
      await until(() => first.query("SELECT 1 FROM pg_stat_replication"), isEmpty);
      await Promise.all(clients.map((client) => client.end()));
    },
    async promote() {
      const args = ["promote", "-D", join(standby.folder, "data"), "-w", "-t", "20"];
      await ended(run(join(bin, "pg_ctl"), args));
      [primary, standby] = [standby, primary];
    },
    rejoin: () => attach(bin, { primary, standby }),
    async restartPrimary() {
      const [main = 0] = await processesOf(primary);
      process.kill(main, "SIGINT");
      await until(() => !existsSync(join(primary.folder, "data/postmaster.pid")));
      // Its shell is left until the end: it would take the data with it.
      if (primary.child) shells.push({ ...primary });
      await serve(bin, primary);
    },
    async close() {
      await Promise.all([stop(primary), stop(standby)]);
      await Promise.all(shells.map(stop));
      for (const { folder } of [primary, standby]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function makeServer(): Server {
  const folder = mkdtempSync(join(tmpdir(), "pg-"));
  if (isRoot()) chownSync(folder, OTHER_USER, OTHER_USER);
  return { folder, child: undefined };
}

function hostOf({ folder }: Server): string {
  return encodeURIComponent(folder);
}

function urlOf(server: Server): string {
  return `postgres://postrider@${hostOf(server)}/${DATABASE}`;
}

/** Stops the server and removes its data when its input ends: then this process has ended, however it did. */
const UNTIL_INPUT_ENDS = `folder="$1"; shift
"$@" & server=$!
cat >/dev/null
kill -QUIT $server 2>/dev/null
wait $server
rm -rf "$folder/data"`;

async function serve(bin: string, server: Server): Promise<void> {
  const { folder } = server;
  const settings = {
    fsync: "off",
    // In the folder: what a killed server has in /dev/shm stays there for ever.
    dynamic_shared_memory_type: "mmap",
    listen_addresses: "",
    unix_socket_directories: folder,
    wal_keep_size: "64MB",
    log_checkpoints: "off",
    // Commits wait for a standby, and one whose primary went away looks for it this often.
    wal_retrieve_retry_interval: "100ms",
    shared_buffers: "32MB",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const command = [join(bin, "postgres"), "-D", join(folder, "data"), ...flags];
  const child = run("/bin/sh", ["-c", UNTIL_INPUT_ENDS, "sh", folder, ...command]);
  server.child = child;
  await said(child, "ready to accept");
}

/** Copies the primary, follows it, and lets its commits wait for the copy. */
async function attach(bin: string, { primary, standby }: Pair): Promise<void> {
  const client = new Client({ connectionString: urlOf(primary) });
  await client.connect();
  await copy(client, { primary, standby });
  await serve(bin, standby);
  await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
  await client.query("SELECT pg_reload_conf()");
  const isSync = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming'";
  await until(async () => (await client.query(isSync)).rowCount);
  await client.end();
}

const isEmpty = ({ rowCount }: { rowCount: number | null }) => rowCount === 0;

type Pair = Readonly<Record<"primary" | "standby", Server>>;

/** What vanishes meanwhile is not missed; what a running server keeps to itself, and its log, which is streamed, stay out. */
const COPY = `cp -a "$1" "$2" 2>/dev/null
cd "$2" && rm -rf postmaster.pid postmaster.opts pg_replslot/* && find pg_wal -type f -delete`;

/** As pg_basebackup does it (PostgreSQL 18, §25.3.2), which not every installation has. */
async function copy(client: Client, { primary, standby }: Pair): Promise<void> {
  const data = join(standby.folder, "data");
  await client.query("SELECT pg_backup_start('copy', true)");
  await ended(run("/bin/sh", ["-c", COPY, "sh", join(primary.folder, "data"), data]));
  const { rows } = await client.query<{ labelfile: string }>("SELECT labelfile FROM pg_backup_stop(false)");
  // Promoted, it goes on alone until there is another.
  const settings = `
primary_conninfo = 'host=${primary.folder} user=postrider application_name=standby'
synchronous_standby_names = ''
`;
  appendFileSync(join(data, "postgresql.auto.conf"), settings);
  for (const [name, text] of [
    ["backup_label", rows[0]?.labelfile ?? ""],
    ["standby.signal", ""],
  ] as const) {
    writeFileSync(join(data, name), text);
    if (isRoot()) chownSync(join(data, name), OTHER_USER, OTHER_USER);
  }
}

async function processesOf({ folder }: Server): Promise<number[]> {
  const main = Number(readFileSync(join(folder, "data/postmaster.pid"), "utf8").split("\n")[0]);
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === main);
  return [main, ...children.map(Number)];
}

/** One that served a connection may just have ended. */
function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1]);
  } catch {
    return undefined;
  }
}

/** Ends what is left of it, and its data. */
async function stop(server: Server): Promise<void> {
  const { child } = server;
  server.child = undefined;
  if (!child) return;
  const closed = new Promise((resolve) => child.once("close", resolve));
  child.stdin?.end();
  await closed;
}
