/** Ways for tests to open a store on SQLite, and to look behind it. */
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { MessageChannel, Worker } from "node:worker_threads";
import { builtPrograms } from "../../../test/built-programs.ts";
import { folderUntilTheEnd } from "../../../test/temp-folder.ts";
import { createSystemClock } from "../../cli/system-clock.ts";
import type { Inside } from "../contract/world.contract.ts";
import type { Store } from "../store.ts";
import { createVault } from "../vault.ts";
import { type Driver, openDriver } from "./database/driver.ts";
import { migrate } from "./migrate.ts";
import { openOn, type SqliteOptions } from "./open-sqlite.ts";
import { openThreaded, type ThreadedOptions } from "./thread/open-threaded.ts";
import type { ThreadSetup } from "./thread/thread-messages.ts";

export const MASTER_KEY = "a master key of some length";

export const VAULT = createVault({ masterKey: MASTER_KEY, randomBytes });

export async function openInMemory(options: Partial<SqliteOptions> = {}) {
  return openWithDriver(":memory:", options);
}

/** With the connection itself, so that a test can fill it, ask it and break it. */
export async function openWithDriver(path: string, options: Partial<SqliteOptions> = {}) {
  const driver = openDriver(path);
  if (path === ":memory:") driver.exec(migrated());
  const store = await openOn(driver, { vault: VAULT, ...options }, path);
  return { store, driver, inside: lookInside(driver) };
}

let statements: string | undefined;

/** What all the migrations leave in an empty database, as statements: to run these takes a third of the work. */
function migrated(): string {
  statements ??= readMigrated();
  return statements;
}

function readMigrated(): string {
  const driver = openDriver(":memory:");
  migrate(driver);
  const made = driver
    .prepare<{ name: string; sql: string }>(
      "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid",
    )
    .all()
    .filter(({ name }) => !name.startsWith("sqlite_"));
  const rows = driver
    .prepare<{ name: string }>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .flatMap(({ name }) => rowsOf(driver, name));
  driver.close();
  return ["BEGIN", ...made.map(({ sql }) => sql), "DELETE FROM sqlite_sequence", ...rows, "COMMIT"].join(
    ";\n",
  );
}

/** The statements that insert a table's rows. */
function rowsOf(driver: Driver, table: string): readonly string[] {
  const columns = driver.prepare<{ name: string }>(`PRAGMA table_info(${table})`).all();
  const values = columns.map(({ name }) => `quote(${name})`).join(" || ', ' || ");
  const rows = driver.prepare<{ row: string }>(`SELECT ${values} AS row FROM ${table}`).all();
  return rows.map(({ row }) => `INSERT INTO ${table} VALUES (${row})`);
}

/** A folder of its own for one test. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postrider-store-"));
  try {
    await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ROWS_OF_MESSAGE = [
  "SELECT id FROM messages WHERE id = ?1",
  "SELECT id FROM jobs WHERE message_id = ?1",
  "SELECT position FROM timeline WHERE message_id = ?1",
  "SELECT number FROM events WHERE message_id = ?1",
  "SELECT part FROM provider_ids WHERE message_id = ?1",
  "SELECT part FROM unconfirmed_parts WHERE message_id = ?1",
  "SELECT part FROM overdue_receipts WHERE message_id = ?1",
  "SELECT id FROM webhooks WHERE message_id = ?1",
  "SELECT id FROM contents WHERE first_message_id <= ?1 AND last_message_id >= ?1",
];

function lookInside(driver: Driver): Inside {
  const body = driver.prepare(
    `SELECT 1 FROM messages m LEFT JOIN contents c ON c.id = m.content
     WHERE m.id = ? AND coalesce(m.body, c.body) IS NOT NULL`,
  );
  return {
    change: (sql) => driver.exec(sql),
    async refuse(what, table, condition) {
      driver.exec(
        `CREATE TRIGGER refuse_${table} BEFORE ${what} ON ${table} WHEN ${condition} BEGIN SELECT RAISE(ABORT, 'damaged'); END`,
      );
      return async () => driver.exec(`DROP TRIGGER refuse_${table}`);
    },
    hasBody: (id) => body.get(id) !== undefined,
    countRows: (id) => ROWS_OF_MESSAGE.reduce((sum, sql) => sum + driver.prepare(sql).all(id).length, 0),
  };
}

/** The program of the thread that shortens the log, as `cli` starts it. */
export const CHECKPOINT_PROGRAM = new URL("../../cli/checkpoint-thread.ts", import.meta.url);

/** The program of the store's thread, as `cli` starts it. Built when it is first asked for: most tests need no thread. */
export function threadProgram(): URL {
  return pathToFileURL(join(builtPrograms(), "store-thread.ts"));
}

let empty: Promise<string> | undefined;

/** A database with the schema and nothing else, made once: to copy it costs less than all the migrations. */
function emptyFile(): Promise<string> {
  empty ??= makeEmptyFile();
  return empty;
}

async function makeEmptyFile(): Promise<string> {
  const path = join(folderUntilTheEnd("postrider-empty-"), "p.db");
  await (await openWithDriver(path)).store.close();
  return path;
}

/** With the thread, in a folder that goes with it, and a third connection to look inside. `start`: see `ThreadedOptions`. */
export async function openOnThread({
  start,
  ...over
}: Pick<ThreadedOptions, "start"> & { commitMs?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "postrider-store-"));
  const path = join(folder, "p.db");
  copyFileSync(await emptyFile(), path);
  const threaded = await openThreaded({
    program: threadProgram(),
    setup: { path, masterKey: MASTER_KEY, ...over },
    vault: VAULT,
    clock: createSystemClock(),
    ...(start && { start }),
    onLost: (error) => {
      throw error;
    },
  });
  const driver = openDriver(path);
  const store: Store = {
    ...threaded,
    async close() {
      driver.close();
      await threaded.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return { store, inside: lookInside(driver) };
}

/** The same on a thread that serves one store after the other: to start a thread and load its program is most of the work. */
export function openOnSharedThread() {
  return openOnThread({ start: openOnShared });
}

let shared: Worker | undefined;

function openOnShared(_program: URL, setup: ThreadSetup): Worker {
  shared ??= startShared();
  const { port1, port2 } = new MessageChannel();
  shared.postMessage({ port: port2, setup }, [port2]);
  // It has what the store uses of a thread: a shared one does not end with the store.
  return port1 as unknown as Worker;
}

function startShared(): Worker {
  const thread = new Worker(new URL("../../../test/fakes/shared-store-thread.ts", import.meta.url));
  thread.unref();
  return thread;
}
