import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { UsageFailure } from "./command-failure.ts";

/**
 * A value as it was typed. For `-`, reads standard input instead, without the last line end. Secrets should come that way,
 * since everybody on the machine can see in the list of processes what is typed.
 */
export async function readValue(typed: string): Promise<string> {
  return typed === "-" ? (await text(process.stdin)).replace(/\r?\n$/, "") : typed;
}

/**
 * Reads a file that an option names: UTF-8, or the UTF-16 that spreadsheets save as "Unicode text". Throws `UsageFailure` for another
 * encoding: its text would be read with other characters, which in a list of addresses would be other people.
 */
export async function readTextFile(path: string): Promise<string> {
  const octets = await readInputFile(path);
  const encoding = octets[0] === 0xff && octets[1] === 0xfe ? "utf-16le" : "utf-8";
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(octets);
  } catch {
    const isWorkbook = octets.subarray(0, 2).toString("latin1") === "PK";
    const what = isWorkbook ? "is an Excel workbook" : "is not UTF-8";
    throw new UsageFailure(`${path} ${what}: save it as CSV (UTF-8)`);
  }
}

async function readInputFile(path: string): Promise<Buffer> {
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
