import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { uuidTime } from "../../core/uuid.ts";
import { lockFile } from "../../store/lock.ts";
import { isBusy } from "../../store/sqlite/database/driver.ts";

/** A locked file that shows other processes on the data folder that this one is alive. */
export interface Lifeline {
  /** Names of recent processes on this folder that are dead, so that nobody has to wait for them. */
  readonly dead: readonly string[];
  /** To be called when nothing is done under the name any more. The file stays, so that the next start learns of this death. */
  release(): void;
}

/**
 * Locks a file in the data folder for as long as this process lives; the kernel releases the lock however it ends. So an
 * unlocked file belongs to a process that is certainly dead, which the database alone could only guess (ADR 30). Throws
 * if the folder cannot be written, or if the system has no boot id.
 *
 * @param name of this process, a UUIDv7
 */
export function takeLifeline(folder: string, name: string): Lifeline {
  const boot = readBoot();
  const dead = findDead(folder, boot, name);
  // Renamed only when it is locked: otherwise another start could find it unlocked and take this process for dead.
  const early = join(folder, `process-${name}.new`);
  const lock = lockFile(early, { create: true });
  renameSync(early, join(folder, `process-${markOf(early, boot)}-${name}.lock`));
  return { dead, release: lock.release };
}

/** Whether a file is the lifeline of a process of this name, or about to become it. */
export function isLifelineOf(name: string, file: string): boolean {
  return UNFINISHED.exec(file)?.groups?.name === name || FINISHED.exec(file)?.groups?.name === name;
}

/**
 * Whether the process of this name, which takes its lifeline in a folder made for it alone, is alive or certainly dead.
 * "unknown" if the folder has no lifeline, or one of another boot or machine.
 */
export function fateIn(folder: string, process: string): "alive" | "dead" | "unknown" {
  try {
    const file = readdirSync(folder).find((each) => FINISHED.exec(each)?.groups?.name === process);
    if (file === undefined) return "unknown";
    const path = join(folder, file);
    const lock = lockFile(path, { create: false });
    const isOwn = FINISHED.exec(file)?.groups?.mark === markOf(path, readBoot());
    lock.release();
    return isOwn ? "dead" : "unknown";
  } catch (error) {
    return isBusy(error) ? "alive" : "unknown";
  }
}

function readBoot(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
}

const UNFINISHED = /^process-(?<name>[^.]+)\.new$/;
const FINISHED = /^process-(?<mark>[0-9a-f]{16})-(?<name>[^.]+)\.lock$/;

/**
 * Identifies the file by boot, device and inode, which no other file can have while it exists. A copy, or a file that was
 * restored from a backup, is recognized since its name holds the mark of another file.
 */
function markOf(path: string, boot: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return createHash("sha256").update(`${boot} ${dev} ${ino}`).digest("hex").slice(0, 16);
}

/** How many files of dead processes to keep: the start that reads one first may fail before it uses it. */
const KEPT = 16;

function findDead(folder: string, boot: string, own: string): readonly string[] {
  const files = readdirSync(folder);
  for (const file of files) if (isLeftUnfinished(file, own)) rmSync(join(folder, file), { force: true });
  const dead = files
    .filter((file) => file.startsWith("process-") && file.endsWith(".lock"))
    .flatMap((file) => deadProcessOf(join(folder, file), boot))
    .toSorted((a, b) => (a.name < b.name ? 1 : -1));
  for (const { path } of dead.slice(KEPT)) rmSync(path, { force: true });
  return dead.slice(0, KEPT).map(({ name }) => name);
}

/** Whether a start that was killed has left the file. A start that is under way has a name hardly older than this process's. */
function isLeftUnfinished(file: string, own: string): boolean {
  const name = UNFINISHED.exec(file)?.groups?.name;
  const ageMs = name === undefined ? 0 : (uuidTime(own) ?? 0) - (uuidTime(name) ?? 0);
  return ageMs > UNFINISHED_MS;
}

const UNFINISHED_MS = 60_000;

interface DeadProcess {
  readonly path: string;
  readonly name: string;
}

/** The dead process whose lifeline a file is; none if the file is locked. Deletes an unlocked file that is a copy. */
function deadProcessOf(path: string, boot: string): readonly DeadProcess[] {
  try {
    const lock = lockFile(path, { create: false });
    try {
      const { mark, name } = FINISHED.exec(basename(path))?.groups ?? {};
      if (name !== undefined && mark === markOf(path, boot)) return [{ path, name }];
      rmSync(path, { force: true });
    } finally {
      lock.release();
    }
  } catch {
    // The file is locked, belongs to another user, or cannot be locked: it says nothing about its process.
  }
  return [];
}
