import type { Command } from "commander";
import { addNoun, addVerb, type Column, type CommandLine, column } from "./command-line.ts";

const COLUMNS: readonly Column[] = [
  column("ALARM", "name"),
  column("SUBJECT", "subject"),
  column("CONNECTOR", "subject_name"),
  column("SINCE", "since"),
  column("RAISED", "raised_at"),
  column("REASON", "reason"),
];

/** `alarms list`. */
export function addAlarmCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "alarms").description("list alarms");
  addVerb(noun, commandLine, {
    usage: "list",
    summary: "list raised alarms, the oldest first",
    work: async ({ client, printRows }) => printRows(COLUMNS, await client.request("GET", "alarms")),
  });
}
