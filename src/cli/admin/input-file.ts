import { readFile } from "node:fs/promises";
import { UsageFailure } from "./command-line.ts";

/** Reads a file that an option names. Throws `UsageFailure`. */
export async function readInputFile(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const { code = String(error) } = error as { code?: string };
    throw new UsageFailure(`"${path}" cannot be read: ${WORDS[code] ?? code}`);
  }
}

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "permission denied",
};
