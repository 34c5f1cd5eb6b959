import type { Command } from "commander";
import { addNoun, addVerb, type Column, type CommandLine, column, rowsText } from "./command-line.ts";
import { addPaging } from "./noun-commands.ts";
import type { OptionRow } from "./option-rows.ts";

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
export function addInboundCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "inbound").description("read inbound SMS");
  const verb = addVerb(noun, commandLine, {
    usage: "list",
    summary: "list inbound SMS of the last 7 days, newest first",
    async work({ client, options, print }) {
      const { account: account_id, from, to, after, limit } = options as Record<string, string | undefined>;
      // The API calls it cursor; the command line says --after in every list.
      const query = { account_id, from, to, cursor: after, limit };
      print(await client.request("GET", "inbound-messages", { query }), (page) => rowsText(COLUMNS, page));
    },
  });
  for (const { flags, meaning } of FILTERS) verb.option(flags, meaning);
  addPaging(verb);
}

/** `sandbox receive`. */
export function addReceive(noun: Command, commandLine: CommandLine): void {
  addVerb(noun, commandLine, {
    usage: "receive",
    summary: "simulate an inbound SMS for a sandbox account",
    async work({ client, options, print }) {
      const { account: account_id, from, to, text } = options;
      const body = { account_id, from, to, text };
      print(
        await client.request("POST", "sandbox/inbound", { body }),
        (answer: { message_id: string }) => `received as ${answer.message_id}\n`,
      );
    },
  })
    .requiredOption("--account <id>", "a sandbox account")
    .requiredOption("--from <number>", "who writes")
    .requiredOption("--to <number>", "the number or short code it is written to")
    .requiredOption("--text <text>", "what it says");
}
