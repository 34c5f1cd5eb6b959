import { type Stats, statSync } from "node:fs";
import { join } from "node:path";
import type { Log } from "../../core/log.ts";
import { MASTER_KEY_FILE, NEXT_KEY_FILE, PREVIOUS_KEY_FILE } from "../keys/master-key.ts";
import { DATABASE_FILE, SANDBOX_FILE } from "./data-folder.ts";

const PRIVATE_FILES = [
  DATABASE_FILE,
  `${DATABASE_FILE}-wal`,
  SANDBOX_FILE,
  MASTER_KEY_FILE,
  NEXT_KEY_FILE,
  PREVIOUS_KEY_FILE,
];

const OTHERS_ENTER = 0o001;
const OTHERS_READ_OR_WRITE = 0o006;

export function warnOfExposed(log: Pick<Log, "warn">, dataFolder: string): void {
  const files = exposedFiles(dataFolder);
  if (files.length === 0) return;
  log.warn(
    { files },
    "every user of this machine can read or change these files: take the right away with chmod o-rwx",
  );
}

/**
 * The files of the data folder that every user of the machine may read or write, as after a careless copy. That a group may read
 * them can be intended, since some platforms mount volumes that way.
 */
function exposedFiles(dataFolder: string): readonly string[] {
  if (!hasMode(dataFolder, OTHERS_ENTER)) return [];
  return PRIVATE_FILES.map((name) => join(dataFolder, name)).filter((path) =>
    hasMode(path, OTHERS_READ_OR_WRITE),
  );
}

function hasMode(path: string, bits: number): boolean {
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && (found.mode & bits) !== 0;
}
