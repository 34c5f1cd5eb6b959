import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageFailure } from "./command-line.ts";

/**
 * A value as it was typed; for `-`, what comes on standard input, without the last line end. Secrets should come that way,
 * since everybody on the machine can see what is typed, in the list of processes.
 */
export async function readValue(typed: string): Promise<string> {
  return typed === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : typed;
}

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
