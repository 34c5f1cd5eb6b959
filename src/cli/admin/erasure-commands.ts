import { needed } from "../commands/needed-options.ts";
import { formatFields } from "../commands/table.ts";
import { addNoun, type Column, type CommandLine, column } from "./command-line.ts";
import { ORDER } from "./lists.ts";
import type { OptionRow } from "./option-rows.ts";
import { addReading } from "./record-verbs.ts";

const COLUMNS: readonly Column[] = [
  column("ID", "id"),
  { head: "ACCOUNT", of: (row) => row.account_id ?? "all" },
  column("STATUS", "status"),
  column("ERASED", "erased"),
  column("REDACTED", "redacted"),
  column("ASKED FOR", "created_at"),
  column("DONE", "completed_at"),
];

const FILTERS: readonly OptionRow[] = [
  { flags: "--recipient <recipient>", field: "recipient", meaning: "only of this number or address" },
  ORDER,
];

/** `erasures create`, `list` and `show`. */
export function addErasureCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "erasures", "erase what is stored about a recipient");
  noun
    .verb({
      usage: "create",
      summary: "erase what is stored about a number or an address; this cannot be undone",
      async work({ client, options, print }) {
        const body = { recipient: options.recipient, account_id: options.account };
        print(await client.request("POST", "erasures", { body }), formatFields);
      },
    })
    .addOption(needed("--recipient <recipient>", "the phone number or email address"))
    .option("--account <id>", "only in this account; none: in all");
  addReading(noun, { name: "erasures", one: "erasure", columns: COLUMNS, filters: FILTERS });
}
