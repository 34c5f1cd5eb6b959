import { InvalidArgumentError } from "commander";

/** Of an option that names a folder. Nothing would be the current one, which nobody asked for. */
export function parseFolder(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty: name a folder.");
  return text;
}
