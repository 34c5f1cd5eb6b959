import { addNoun, type Column, type CommandLine, column } from "./command-line.ts";

const COLUMNS: readonly Column[] = [
  column("ALARM", "name"),
  column("SUBJECT", "subject"),
  column("CONNECTOR", "subject_name"),
  column("SINCE", "since"),
  column("RAISED", "raised_at"),
  column("REASON", "reason"),
];

/** `alarms list`. */
export function addAlarmCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "alarms", "list alarms");
  noun.verb({
    usage: "list",
    summary: "list raised alarms, the oldest first",
    work: async ({ client, printRows }) => printRows(COLUMNS, await client.request("GET", "alarms")),
  });
}
