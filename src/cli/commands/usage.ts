/** Help and usage errors of all commands. */
import type { AddHelpTextContext, Command, CommanderError } from "commander";
import { COMMAND_HELP } from "./command-help.ts";
import { refuseMissing } from "./needed-options.ts";
import type { Terminal } from "./terminal.ts";

/** Prints help and usage errors to the terminal, and ends with code 2 on an error. Commands added to this one do the same. */
export function tellUsage(command: Command, terminal: Terminal): void {
  command.configureOutput({ writeOut: terminal.stdout, writeErr: terminal.stderr });
  command.configureHelp(COMMAND_HELP);
  command.showHelpAfterError("Add --help to see the commands and options.");
  command.addHelpText("before", refuseUnknown);
  command.hook("preAction", (_, called) => refuseMissing(called));
  command.exitOverride((error: CommanderError) => terminal.exit(error.exitCode === 0 ? 0 : 2));
}

/**
 * For `help nope` and `nope --help`, Commander would show what there is, without a word of what there is not: it is refused as
 * `nope` itself.
 */
function refuseUnknown({ command }: AddHelpTextContext): string {
  const word = command.args.find((arg) => arg !== "help");
  const isCommand = ({ commands }: Command) => commands.some((each) => each.name() === word);
  const isOption = word?.startsWith("-");
  if (word !== undefined && !isOption && command.commands.length > 0 && !isCommand(command))
    command.parse([word], { from: "user" });
  return "";
}
