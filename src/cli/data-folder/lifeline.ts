import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { uuidTime } from "../../core/uuid.ts";
import { lockFile } from "../../store/lock.ts";

/** That a process lives, for others that are started on its data folder. */
export interface Lifeline {
  /** Names of processes that had this folder lately and are no more: nobody has to wait long whether they turn up again. */
  readonly dead: readonly string[];
  /** To be called when nothing is done under the name any more. The file stays: the next start may need its word. */
  release(): void;
}

/**
 * Holds a file in the data folder for as long as this process lives; the kernel lets go of it however that ends. So a
 * file that nobody holds was that of a process that is dead, which its database alone could only guess (ADR 30). Throws
 * where the folder cannot be written, and on a system that does not say when it was started. `name`: a UUIDv7.
 */
export function takeLifeline(folder: string, name: string): Lifeline {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8");
  const dead = findDead(folder, boot, name);
  // It gets its name when it is locked: else another start could find it before, and nobody holding it.
  const early = join(folder, `process-${name}.new`);
  const lock = lockFile(early, { create: true });
  renameSync(early, join(folder, `process-${markOf(early, boot)}-${name}.lock`));
  return { dead, release: lock.release };
}

const UNFINISHED = /^process-(?<name>[^.]+)\.new$/;
const WORD = /^process-(?<mark>[0-9a-f]{16})-(?<name>[^.]+)\.lock$/;

/**
 * Of this very file, on this machine, since it was started. While a file is held no other can have its number: so what was
 * copied, or came back with a backup, is known by its name, which tells of another.
 */
function markOf(path: string, boot: string): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return createHash("sha256").update(`${boot} ${dev} ${ino}`).digest("hex").slice(0, 16);
}

/** Words kept: the start that heard one first may have come to nothing. */
const KEPT = 16;

function findDead(folder: string, boot: string, own: string): readonly string[] {
  const files = readdirSync(folder);
  for (const file of files) if (isLeftUnfinished(file, own)) rmSync(join(folder, file), { force: true });
  const words = files
    .filter((file) => file.startsWith("process-") && file.endsWith(".lock"))
    .flatMap((file) => wordOf(join(folder, file), boot))
    .toSorted((a, b) => (a.name < b.name ? 1 : -1));
  for (const { path } of words.slice(KEPT)) rmSync(path, { force: true });
  return words.slice(0, KEPT).map(({ name }) => name);
}

/** By a start that was killed; one that is under way just now has a name almost as young as this one's. */
function isLeftUnfinished(file: string, own: string): boolean {
  const name = UNFINISHED.exec(file)?.groups?.name;
  const ageMs = name === undefined ? 0 : (uuidTime(own) ?? 0) - (uuidTime(name) ?? 0);
  return ageMs > UNFINISHED_MS;
}

const UNFINISHED_MS = 60_000;

interface Word {
  readonly path: string;
  readonly name: string;
}

/** None of a file that is held. One that nobody holds, and that is a copy, goes. */
function wordOf(path: string, boot: string): readonly Word[] {
  try {
    const lock = lockFile(path, { create: false });
    try {
      const { mark, name } = WORD.exec(basename(path))?.groups ?? {};
      if (name !== undefined && mark === markOf(path, boot)) return [{ path, name }];
      rmSync(path, { force: true });
    } finally {
      lock.release();
    }
  } catch {
    // Another's, of another user, or no lock at all: it says nothing.
  }
  return [];
}
