import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { InvalidArgumentError } from "commander";

/**
 * The absolute path of a folder that an option names. It need not exist. Refuses "", which would silently mean the current folder.
 */
export function parseFolder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty: name a folder.");
  const folder = resolve(text);
  const file = fileOn(folder);
  if (file !== undefined) throw new InvalidArgumentError(`${file} is a file: name a folder.`);
  return folder;
}

/** The file that the path names, or would lie in; `undefined` if there is none. */
function fileOn(path: string): string | undefined {
  if (!existsSync(path)) return path === dirname(path) ? undefined : fileOn(dirname(path));
  return statSync(path).isDirectory() ? undefined : path;
}
