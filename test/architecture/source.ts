import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** One file of the tree. Paths are relative to the repository and use `/`. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}

/** A rule of the architecture. It sees one file at a time, so that tests can give it invented files. */
export interface Rule {
  readonly name: string;
  check(source: Source): readonly Violation[];
}

export const CODE = /\.(ts|tsx|js|mjs)$/;

const ROOTS = ["src", "test", "bench", "scripts", "examples"];
const READ = /\.(ts|tsx|js|mjs|sql)$/;

/** Every source file under the working directory, in order of path. */
export function readTree(): readonly Source[] {
  return ROOTS.flatMap((root) => readFolder(root)).sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What ships: everything under `src` but tests and contracts. */
export function isBuild(path: string): boolean {
  return path.startsWith("src/") && CODE.test(path) && !isTest(path);
}

export function isTest(path: string): boolean {
  return path.startsWith("test/") || /\.(test|contract)\.tsx?$/.test(path);
}

function readFolder(folder: string): Source[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.name === "node_modules" || entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return readFolder(path);
    return READ.test(path) ? [{ path, text: readFileSync(join(process.cwd(), path), "utf8") }] : [];
  });
}

/** A folder that does not exist has no entries; other errors are thrown. */
function entriesOf(folder: string) {
  try {
    return readdirSync(join(process.cwd(), folder), { withFileTypes: true });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
