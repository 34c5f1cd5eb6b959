import { UsageFailure } from "../commands/command-failure.ts";
import { addNoun, type CommandLine, column } from "./command-line.ts";
import { addListOptions, type List, ORDER, PAGES, showList } from "./lists.ts";

const PARKED: List = {
  path: "receipts/parked",
  columns: [
    column("RECEIVED", "received_at"),
    column("CONNECTOR", "connector_id"),
    column("PROVIDER ID", "provider_message_id"),
    column("OTHER ID", "other_id"),
    column("RECIPIENT", "recipient"),
    column("STATUS", "status"),
    column("RAW", "raw"),
  ],
  filters: [
    { flags: "--connector <id>", field: "connector_id", meaning: "only what came over this connector" },
    ORDER,
  ],
  pages: PAGES,
};

/** `receipts list --parked`: receipts that match no message. The others are on the timelines of their messages. */
export function addReceiptCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "receipts", "read delivery receipts that match no message");
  const verb = noun.verb({
    usage: "list",
    summary: "list receipts that match no message",
    async work(run) {
      if (!run.options.parked)
        throw new UsageFailure("only parked receipts can be listed: --parked; others are on timelines");
      await showList(run, PARKED);
    },
  });
  verb.option("--parked", "those that match no message");
  addListOptions(verb, PARKED);
}
