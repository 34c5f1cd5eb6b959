import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY = 0o600;

/**
 * Writes a file that only its owner can read, and that is complete and on disk when this returns. An existing file is replaced,
 * not overwritten: it could be a link to another file, or readable by others.
 */
export function writePrivateFile(path: string, text: string): void {
  rmSync(path, { force: true });
  const file = openSync(path, "wx", OWNER_ONLY);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  syncFolder(dirname(path));
}

/** Makes sure that what was written to a file is on disk. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** Makes sure that the names of files in a folder are on disk: a new file is durable only then. */
export function syncFolder(path: string): void {
  sync(path, "r");
}

function sync(path: string, flags: "r" | "r+"): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
