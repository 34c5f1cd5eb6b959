import { createHash } from "node:crypto";
import { chmodSync, closeSync, copyFileSync, openSync, readSync, statSync } from "node:fs";
import { syncFile } from "../../store/private-file.ts";
import { copyDatabase, type Inspection, inspectDatabase } from "../../store/sqlite/backup.ts";
import type { FileStep } from "./backup-progress.ts";

/** A step that begins or goes on. `file`: a file whose size shows how much is done. */
export type SlowStep = FileStep & { readonly file?: string };

type Tell = (step: SlowStep) => void;

/** What `slowly` does: work that takes long on large files. Arguments and results are copied between threads. */
export const SLOW_WORK = { copyOut, copyIn, digestFiles };

const OWNER_ONLY_FILE = 0o600;

/** Copies a database that a process may be using. The copy is on disk when this returns. */
function copyOut(tell: Tell, database: string, copy: string): Inspection {
  copyDatabase(database, copy, (of) => tell({ what: "copied", file: copy, of }));
  return settle(tell, copy);
}

/** Copies a database that nobody uses, in place of an earlier copy. The copy is on disk when this returns. */
function copyIn(tell: Tell, database: string, copy: string): Inspection {
  tell({ what: "copied", file: copy, of: statSync(database).size });
  copyFileSync(database, copy);
  return settle(tell, copy);
}

function settle(tell: Tell, copy: string): Inspection {
  tell({ what: "checking the copy" });
  chmodSync(copy, OWNER_ONLY_FILE);
  syncFile(copy);
  return inspectDatabase(copy);
}

/** Hex SHA-256 of each file; `undefined` for one that cannot be read. */
function digestFiles(tell: Tell, paths: readonly string[]): readonly (string | undefined)[] {
  const of = paths.reduce((sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0), 0);
  let done = 0;
  const onRead = (octets: number) => {
    done += octets;
    tell({ what: "read for checksums", done, of });
  };
  return paths.map((path) => {
    try {
      return sha256OfFile(path, onRead);
    } catch {
      return undefined;
    }
  });
}

const CHUNK_OCTETS = 1 << 20;

/** Reads the file in pieces, since a database may be larger than the memory. */
function sha256OfFile(path: string, onRead: (octets: number) => void): string {
  const hash = createHash("sha256");
  const chunk = Buffer.alloc(CHUNK_OCTETS);
  const file = openSync(path, "r");
  try {
    for (let read = readSync(file, chunk); read > 0; read = readSync(file, chunk)) {
      hash.update(chunk.subarray(0, read));
      onRead(read);
    }
  } finally {
    closeSync(file);
  }
  return hash.digest("hex");
}
