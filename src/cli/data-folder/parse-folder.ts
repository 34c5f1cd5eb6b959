import { InvalidArgumentError } from "commander";

/** Parses an option that names a folder. Refuses "", which would silently mean the current folder. */
export function parseFolder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty: name a folder.");
  return text;
}
