import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidArgumentError } from "commander";

/** Parses an option that names a folder, which need not exist. Refuses "", which would silently mean the current folder. */
export function parseFolder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty: name a folder.");
  const file = fileOn(resolve(text));
  if (file !== undefined) throw new InvalidArgumentError(`${file} is a file: name a folder.`);
  return text;
}

/** The file that the path names, or would lie in; `undefined` if there is none. */
function fileOn(path: string): string | undefined {
  if (!existsSync(path)) return path === dirname(path) ? undefined : fileOn(dirname(path));
  return statSync(path).isDirectory() ? undefined : path;
}
