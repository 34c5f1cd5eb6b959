import { needed } from "../commands/needed-options.ts";
import { addNoun, type CommandLine, column, type NounCommand } from "./command-line.ts";
import { addList, type List, ORDER, PAGES } from "./lists.ts";

const SENT: List = {
  path: "sandbox/messages",
  columns: [
    column("RECEIVED", "received_at"),
    column("MESSAGE", "message_id"),
    column("TO", "to"),
    column("SEGMENTS", "segments"),
    column("ENCODING", "encoding"),
    { head: "TEXT", of: (row) => row.text ?? row.subject },
  ],
  filters: [
    { flags: "--account <id>", field: "account_id", meaning: "only of this account" },
    { flags: "--message <id>", field: "message_id", meaning: "only this message" },
    { flags: "--to <recipient>", field: "to", meaning: "only to this number or address" },
    { flags: "--channel <channel>", field: "channel", meaning: "only sms or email" },
    ORDER,
  ],
  pages: PAGES,
};

/** `sandbox messages` and `sandbox receive`. */
export function addSandboxCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "sandbox", "read what the sandbox has sent, or simulate an inbound SMS");
  addList(noun, {
    usage: "messages",
    summary: "list what sandbox accounts have sent, as it would have been transmitted",
    list: SENT,
  });
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
    .addOption(needed("--account <id>", "a sandbox account"))
    .addOption(needed("--from <number>", "who writes"))
    .addOption(needed("--to <number>", "the number or short code it is written to"))
    .addOption(needed("--text <text>", "what it says"));
}
