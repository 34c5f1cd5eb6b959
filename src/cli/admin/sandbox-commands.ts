import { addNoun, type Column, type CommandLine, column, type NounCommand } from "./command-line.ts";
import { addOptions, type OptionRow } from "./option-rows.ts";
import { addPaging, ORDER, readPage } from "./record-verbs.ts";

const COLUMNS: readonly Column[] = [
  column("RECEIVED", "received_at"),
  column("MESSAGE", "message_id"),
  column("TO", "to"),
  column("SEGMENTS", "segments"),
  column("ENCODING", "encoding"),
  { head: "TEXT", of: (row) => row.text ?? row.subject },
];

const FILTERS: readonly OptionRow[] = [
  { flags: "--account <id>", field: "account_id", meaning: "only of this account" },
  { flags: "--message <id>", field: "message_id", meaning: "only this message" },
  { flags: "--to <recipient>", field: "to", meaning: "only to this number or address" },
  { flags: "--channel <channel>", field: "channel", meaning: "only sms or email" },
  ORDER,
];

/** `sandbox messages` and `sandbox receive`. */
export function addSandboxCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "sandbox", "read what the sandbox has sent, or simulate an inbound SMS");
  const verb = noun.verb({
    usage: "messages",
    summary: "list what sandbox accounts have sent, as it would have been transmitted",
    work: async (run) => run.printRows(COLUMNS, await readPage(run, "sandbox/messages", FILTERS)),
  });
  addOptions(verb, FILTERS);
  addPaging(verb);
  addReceive(noun);
}

function addReceive(noun: NounCommand): void {
  noun
    .verb({
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
