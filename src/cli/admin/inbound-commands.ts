import { addNoun, type Column, type CommandLine, column } from "./command-line.ts";
import { addOptions, type OptionRow } from "./option-rows.ts";
import { addPaging } from "./record-verbs.ts";

const COLUMNS: readonly Column[] = [
  column("RECEIVED", "received_at"),
  { head: "ACCOUNT", of: (row) => row.account_id ?? "nobody" },
  column("FROM", "from"),
  column("TO", "to"),
  column("KEYWORD", "keyword"),
  column("TEXT", "text"),
];

const FILTERS: readonly OptionRow[] = [
  {
    flags: "--account <id>",
    field: "account_id",
    meaning: "the account; none: messages that belong to no account",
  },
  { flags: "--from <number>", field: "from", meaning: "only what this number wrote" },
  { flags: "--to <number>", field: "to", meaning: "only what was written to this number" },
];

/** `inbound list`: messages from handsets. */
export function addInboundCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "inbound", "read inbound SMS");
  const verb = noun.verb({
    usage: "list",
    summary: "list inbound SMS of the last 7 days, newest first",
    async work({ client, options, printRows }) {
      const { account: account_id, from, to, after, limit } = options as Record<string, string | undefined>;
      const query = { account_id, from, to, cursor: after, limit };
      printRows(COLUMNS, await client.request("GET", "inbound-messages", { query }));
    },
  });
  addOptions(verb, FILTERS);
  // The API calls it cursor; the command line says --after in every list.
  addPaging(verb, { cursor: "cursor" });
}
