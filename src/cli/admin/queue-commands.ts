import type { Command } from "commander";
import { addNoun, addVerb, type Column, type CommandLine, column } from "./command-line.ts";

const COLUMNS: readonly Column[] = [
  column("ROUTE", "queue"),
  { head: "READY", of: ({ ready, has_more }) => (has_more ? `${ready}+` : ready) },
  column("OLDEST", "oldest_ready_at"),
];

/** `queues list`. */
export function addQueueCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "queues").description("see what waits to be sent");
  addVerb(noun, commandLine, {
    usage: "list",
    summary: "list the queues, one for each route, with the messages ready to be sent",
    work: async ({ client, printRows }) => printRows(COLUMNS, await client.request("GET", "queues")),
  });
}
