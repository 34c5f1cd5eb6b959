import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Dump } from "../../store/postgres/dump.ts";
import type { Holdings } from "../../store/sqlite/backup.ts";
import { AdminFailure } from "../admin/admin-client.ts";

/** `backup.json`: what a backup consists of. Written last. */
export interface Manifest {
  readonly format: 1;
  /** The program that wrote it. */
  readonly version: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** Hex SHA-256 of each file, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly holds: Holdings;
  /** Present in the backup of a PostgreSQL database. */
  readonly postgres?: Dump;
}

export const MANIFEST_FILE = "backup.json";

const COUNT = Type.Integer({ minimum: 0 });
const SCHEMA = Type.Object({
  format: Type.Literal(1),
  version: Type.String(),
  created_at: Type.String(),
  files: Type.Record(Type.String(), Type.String()),
  holds: Type.Object({
    accounts: COUNT,
    connectors: COUNT,
    domains: COUNT,
    messages: COUNT,
    unfinished: COUNT,
  }),
  postgres: Type.Optional(
    Type.Object({
      rows: Type.Record(Type.String({ pattern: "^[a-z_]+$" }), COUNT),
      migrations: Type.Array(Type.Object({ number: COUNT, name: Type.String(), checksum: Type.String() })),
      keyCheckValue: Type.Optional(Type.String()),
    }),
  ),
});

/** Reads a backup's manifest. Throws `AdminFailure` if the folder holds no backup, or if a file has changed since. */
export function readBackup(folder: string): Manifest {
  const manifest = readManifest(folder);
  for (const [name, digest] of Object.entries(manifest.files)) {
    if (digestOf(folder, name) !== digest) {
      throw new AdminFailure(`${join(folder, name)} is damaged: it is not the file that was backed up`);
    }
  }
  return manifest;
}

function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new AdminFailure(`${folder} holds no backup: ${path} cannot be read (${String(error)})`);
  }
  if (Value.Check(SCHEMA, manifest)) return manifest;
  throw new AdminFailure(`${path} is no description of a backup that this version can read`);
}

function digestOf(folder: string, name: string): string | undefined {
  try {
    return sha256OfFile(join(folder, name));
  } catch {
    return undefined;
  }
}

const CHUNK_OCTETS = 1 << 20;

/** Hex. In pieces: a database may be larger than memory. */
export function sha256OfFile(path: string): string {
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
