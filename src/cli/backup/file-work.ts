import { createHash } from "node:crypto";
import { chmodSync, closeSync, copyFileSync, openSync, readSync } from "node:fs";
import { syncFile } from "../../store/private-file.ts";
import { copyDatabase, type Inspection, inspectDatabase } from "../../store/sqlite/backup.ts";

/** What `slowly` does: work that takes long on large files. Arguments and results are copied between threads. */
export const SLOW_WORK = { copyOut, copyIn, digestFiles };

const OWNER_ONLY_FILE = 0o600;

/** Copies a database that a process may be using. The copy is on disk when this returns. */
function copyOut(database: string, copy: string): Inspection {
  copyDatabase(database, copy);
  return settle(copy);
}

/** Copies a database that nobody uses, in place of an earlier copy. The copy is on disk when this returns. */
function copyIn(database: string, copy: string): Inspection {
  copyFileSync(database, copy);
  return settle(copy);
}

function settle(copy: string): Inspection {
  chmodSync(copy, OWNER_ONLY_FILE);
  syncFile(copy);
  return inspectDatabase(copy);
}

/** Hex SHA-256 of each file; `undefined` for one that cannot be read. */
function digestFiles(paths: readonly string[]): readonly (string | undefined)[] {
  return paths.map((path) => {
    try {
      return sha256OfFile(path);
    } catch {
      return undefined;
    }
  });
}

const CHUNK_OCTETS = 1 << 20;

/** In pieces: a database may be larger than memory. */
function sha256OfFile(path: string): string {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK_OCTETS);
  const file = openSync(path, "r");
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, read));
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
