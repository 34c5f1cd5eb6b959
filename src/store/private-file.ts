import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";

const OWNER_ONLY = 0o600;

/** Writes a file that is complete and on disk when this returns, replacing one that is there. */
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

/** What others have written to a file is on disk when this returns. */
export function syncFile(path: string): void {
  sync(path, "r+");
}

/** A new file's name is durable only once its folder is. */
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
