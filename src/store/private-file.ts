import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY = 0o600;

/** Writes a file, readable by its owner only, that is whole and on disk when this returns. Overwrites an existing one. */
export function writePrivateFile(path: string, text: string): void {
  const file = openSync(path, "w", OWNER_ONLY);
  try {
    writeSync(file, text);
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
