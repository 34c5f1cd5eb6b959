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

/** A new file's name is durable only once its folder is. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
