/** Options that a command cannot do without. Commander's own would be asked for one by one, and before a misspelt one is told. */
import { type Command, Option } from "commander";

interface NeededOption extends Option {
  isNeeded?: boolean;
}

export function needed(flags: string, meaning: string): Option {
  const option: NeededOption = new Option(flags, meaning);
  option.isNeeded = true;
  return option;
}

export function isNeeded({ isNeeded = false }: NeededOption): boolean {
  return isNeeded;
}

/** Ends the command if it has not got all that it needs, and names what is missing. To be called when its line has been read. */
export function refuseMissing(command: Command): void {
  const isMissing = (option: Option) => command.getOptionValue(option.attributeName()) === undefined;
  const missing = command.options.filter((option) => isNeeded(option) && isMissing(option));
  if (missing.length === 0) return;
  const named = missing.map(({ flags }) => `'${flags}'`).join(", ");
  command.error(`error: required option${missing.length === 1 ? "" : "s"} ${named} not specified`);
}
