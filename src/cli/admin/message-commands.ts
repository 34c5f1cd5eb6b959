import { type Command, Option } from "commander";
import { CHANNELS } from "../../core/messages/message.ts";
import {
  addNoun,
  addVerb,
  type Column,
  type CommandLine,
  column,
  errorColumn,
  type Row,
} from "./command-line.ts";
import { pathOf } from "./record-verbs.ts";

const COLUMNS: readonly Column[] = [
  column("AT", "at"),
  column("KIND", "kind"),
  column("STATUS", "status"),
  column("RECIPIENT", "recipient"),
  errorColumn,
  column("DETAIL", "detail"),
];

/** `messages timeline`. */
export function addMessageCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "messages").description("read what happened to messages");
  addVerb(noun, commandLine, {
    usage: "timeline <id>",
    summary: "show everything that happened to a message",
    async work(run) {
      const { account: account_id, channel } = run.options as Record<string, string | undefined>;
      const options = { query: { account_id, channel } };
      const answer = await run.client.request("GET", `${pathOf("messages", run)}/timeline`, options);
      run.printRows(COLUMNS, withAccepted(answer as Timeline), answer);
    },
  })
    .option("--account <id>", "only if it is this account's")
    .addOption(new Option("--channel <channel>", "only if it is of this channel").choices(CHANNELS));
}

interface Timeline {
  /** A service of an earlier version does not say. */
  readonly created_at?: string;
  readonly data: readonly Row[];
}

/** With a first row for the acceptance: from there to the next row the message waited. */
function withAccepted({ created_at: at, data }: Timeline): { readonly data: readonly Row[] } {
  return { data: at === undefined ? data : [{ at, kind: "accepted" }, ...data] };
}
