import { createReadStream, createWriteStream } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import type { DumpTarget } from "../../store/postgres/dump.ts";
import { syncFile } from "../../store/private-file.ts";
import type { BackupProgress } from "./backup-progress.ts";

const OWNER_ONLY_FILE = 0o600;

/** Writes a dump's tables into a folder, a file each. `onTable` is called for each once it is on disk. */
export function createDumpFiles(
  folder: string,
  { onRows, onTable }: Pick<BackupProgress, "onRows" | "onTable">,
): Omit<DumpTarget, "onKey"> {
  let current:
    | { path: string; table: string; lines: PassThrough; written: Promise<void>; rows: number }
    | undefined;
  const write = async (values: unknown) => {
    if (!current) throw new Error("rows belong to a table");
    const { lines, written } = current;
    if (lines.write(`${JSON.stringify(values)}\n`)) return;
    // `written` is raced too, since it rejects if the disk is full.
    await Promise.race([new Promise<void>((resolve) => lines.once("drain", resolve)), written]);
  };
  return {
    async table(table, columns) {
      const path = join(folder, tableFile(table));
      const lines = new PassThrough();
      const written = pipeline(lines, createGzip(), createWriteStream(path, { mode: OWNER_ONLY_FILE }));
      // The next `await` of `written` reports the error.
      written.catch(() => undefined);
      current = { path, table, lines, written, rows: 0 };
      await write(columns);
    },
    async rows(values) {
      for (const row of values) await write(row);
      if (!current) return;
      current.rows += values.length;
      onRows(current.table, current.rows);
    },
    async tableDone(rows) {
      if (!current) return;
      const { path, table, lines, written } = current;
      lines.end();
      await written;
      syncFile(path);
      onTable(table, rows);
    },
  };
}

type Row = readonly (string | null)[];

/** The most rows in a part. */
const PART = 500;

/** A part ends at about this many characters, since contents may be large. */
const PART_CHARACTERS = 4_000_000;

export async function readColumns(folder: string, table: string): Promise<readonly string[]> {
  for await (const line of linesOf(folder, table)) return JSON.parse(line) as string[];
  throw new Error(`${tableFile(table)} is empty`);
}

export async function* readRows(folder: string, table: string): AsyncIterable<readonly Row[]> {
  let part: Row[] = [];
  let characters = 0;
  let isHead = true;
  for await (const line of linesOf(folder, table)) {
    if (isHead) {
      isHead = false;
      continue;
    }
    part.push(JSON.parse(line) as Row);
    characters += line.length;
    if (part.length < PART && characters < PART_CHARACTERS) continue;
    yield part;
    part = [];
    characters = 0;
  }
  if (part.length > 0) yield part;
}

/** Splits at line ends, which JSON text does not contain. Throws if the last line is cut short. */
async function* linesOf(folder: string, table: string): AsyncIterable<string> {
  const lines = new PassThrough();
  // If the file cannot be read, reading `lines` throws the error.
  pipeline(createReadStream(join(folder, tableFile(table))), createGunzip(), lines).catch(() => undefined);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of lines) {
    const parts = (rest + decoder.decode(chunk as Buffer, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  if (rest !== "") throw new Error(`${tableFile(table)} was cut short`);
}

/** The file of a table, in JSON lines: its columns first, then each row's values as PostgreSQL prints them. */
export function tableFile(table: string): string {
  return `${table}.jsonl.gz`;
}

/** What `tableFile` returns. */
export const TABLE_FILE = /^[a-z_]+\.jsonl\.gz$/;
