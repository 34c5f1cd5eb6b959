import type { Command } from "commander";
import { addNoun, addVerb, type Column, type CommandLine, rowsText } from "./command-line.ts";

const COLUMNS: readonly Column[] = [
  { head: "ALARM", of: (row) => row.name },
  { head: "SUBJECT", of: (row) => row.subject },
  { head: "SINCE", of: (row) => row.since },
  { head: "RAISED", of: (row) => row.raised_at },
  { head: "REASON", of: (row) => row.reason },
];

/** `alarms list`. */
export function addAlarmCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "alarms").description("look at what needs attention");
  addVerb(
    noun,
    { usage: "list", summary: "the alarms that are raised, the oldest first" },
    {
      commandLine,
      work: async ({ client, print }) =>
        print(await client.request("GET", "alarms"), (page) => rowsText(COLUMNS, page)),
    },
  );
}
