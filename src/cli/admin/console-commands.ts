import type { Command } from "commander";
import { addNoun, addVerb, type CommandLine } from "./command-line.ts";

/** `console password`. */
export function addConsoleCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "console").description("the web console");
  addVerb(noun, commandLine, {
    usage: "password",
    summary: "make a new password for the web console, and sign everybody out of it",
    work: async ({ client, print }) =>
      print(await client.request("POST", "console-password"), (made: { console_password: string }) => {
        return `${made.console_password}\nKeep it now: it is not stored, and never shown again.\n`;
      }),
  });
}
