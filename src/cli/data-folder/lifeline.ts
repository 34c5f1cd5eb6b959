import { createHash } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { isTaken, type Lock, lockFile } from "../../store/lock.ts";

/** That a process lives, for others that are started on its data folder. */
export interface Lifeline {
  /** Names of processes that had this folder and are no more: nobody has to wait whether they turn up again. */
  readonly dead: readonly string[];
  /** To be called when nothing is done under the name any more. The file stays for the next start, which may need its word. */
  release(): void;
}

const NONE: Lifeline = { dead: [], release() {} };

/**
 * Holds a file in the data folder for as long as this process lives; the kernel lets go of it however that ends. So a
 * file that nobody holds was that of a process that is dead, which its database alone could only guess (ADR 30). Names
 * of files tell of which folder, since when the machine runs: those that came here as copies say nothing.
 * Without a folder that can be written, or on a system that does not say when it was started, there is none.
 */
export function takeLifeline(folder: string, process: string): Lifeline {
  try {
    const mark = markOf(folder);
    const dead = removeLoose(folder, mark);
    const path = join(folder, `${PREFIX}${mark}-${process}${SUFFIX}`);
    const lock = lockUnderOtherName(path);
    return { dead, release: lock.release };
  } catch {
    return NONE;
  }
}

const PREFIX = "process-";
const SUFFIX = ".lock";

/** Not found by its name until it is locked: else another start could take it for one that nobody holds. */
function lockUnderOtherName(path: string): Lock {
  const early = `${path}.new`;
  const lock = lockFile(early);
  renameSync(early, path);
  return lock;
}

/** Of this folder, on this machine, since it was started: what is copied elsewhere, or comes back with a backup, has another. */
function markOf(folder: string): string {
  const { dev, ino } = statSync(folder);
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  return createHash("sha256").update(`${boot} ${dev} ${ino}`).digest("hex").slice(0, 16);
}

/** Whose files nobody holds; the files go, and copies with them. */
function removeLoose(folder: string, mark: string): readonly string[] {
  const own = `${PREFIX}${mark}-`;
  return readdirSync(folder)
    .filter((name) => name.startsWith(PREFIX) && name.endsWith(SUFFIX))
    .filter((name) => removeUnlessHeld(join(folder, name)) && name.startsWith(own))
    .map((name) => name.slice(own.length, -SUFFIX.length));
}

function removeUnlessHeld(path: string): boolean {
  try {
    const lock = lockFile(path);
    rmSync(path, { force: true });
    lock.release();
    return true;
  } catch (error) {
    if (isTaken(error)) return false;
    throw error;
  }
}
