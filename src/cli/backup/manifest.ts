import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import type { Dump } from "../../store/postgres/dump.ts";
import type { Holdings } from "../../store/sqlite/backup.ts";
import { CommandFailure } from "../commands/command-failure.ts";
import { slowly } from "../slow-work.ts";
import type { OnStep } from "./backup-progress.ts";

/** `backup.json`: what a backup consists of. It is written last. */
export interface Manifest {
  readonly format: 1;
  /** The version of the program that wrote it. */
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

/** Reads a backup's manifest. Throws `CommandFailure` if the folder holds no backup. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE);
  let manifest: unknown;
  try {
    manifest = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const inside = newestInside(folder);
    const hint = inside ? `; the newest backup inside it is ${inside.folder}` : "";
    throw new CommandFailure(`${folder} holds no backup: ${whyUnread(path, error)}${hint}`);
  }
  if (Value.Check(SCHEMA, manifest)) return manifest;
  throw new CommandFailure(`${path} does not describe a backup that this version can read`);
}

function whyUnread(path: string, error: unknown): string {
  const isMissing = (error as { code?: string }).code === "ENOENT";
  return isMissing ? `there is no ${path}` : `${path} cannot be read (${String(error)})`;
}

/** The newest of the backups inside a folder, as `backup` makes them if the folder exists. */
export function newestInside(folder: string): { folder: string; manifest: Manifest } | undefined {
  const found = foldersIn(folder).flatMap((each) => {
    const manifest = manifestIn(each);
    return manifest ? [{ folder: each, manifest }] : [];
  });
  return found.sort((one, other) => (one.manifest.created_at < other.manifest.created_at ? 1 : -1))[0];
}

function foldersIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  } catch {
    return [];
  }
}

function manifestIn(folder: string): Manifest | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), "utf8"));
    return Value.Check(SCHEMA, manifest) ? manifest : undefined;
  } catch {
    return undefined;
  }
}

/** Throws `CommandFailure` if a file of the backup is not the one that was backed up. */
export async function checkFiles(folder: string, { files }: Manifest, onStep: OnStep): Promise<void> {
  const paths = Object.keys(files).map((name) => join(folder, name));
  const digests = await slowly("digestFiles", [paths], onStep);
  const expected = Object.values(files);
  const damaged = paths.find((_, index) => digests[index] !== expected[index]);
  if (damaged === undefined) return;
  throw new CommandFailure(`${damaged} is damaged: it is not the file that was backed up`);
}
