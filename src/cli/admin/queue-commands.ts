import { addNoun, type Column, type CommandLine, column } from "./command-line.ts";

const COLUMNS: readonly Column[] = [
  column("ROUTE", "queue"),
  { head: "READY", of: ({ ready, has_more }) => (has_more ? `${ready}+` : ready) },
  column("OLDEST", "oldest_ready_at"),
];

/** `queues list`. */
export function addQueueCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "queues", "see what waits to be sent");
  noun.verb({
    usage: "list",
    summary: "list the queues, one for each route, with the messages ready to be sent",
    work: async ({ client, printRows }) => printRows(COLUMNS, await client.request("GET", "queues")),
  });
}
