import { Option } from "commander";
import { isObject } from "../../core/body/is-object.ts";
import { CHANNELS } from "../../core/messages/message.ts";
import { formatFields } from "../commands/table.ts";
import {
  addNoun,
  type Column,
  type CommandLine,
  column,
  errorColumn,
  type NounCommand,
  type Row,
} from "./command-line.ts";
import { addList, type List, PAGES } from "./lists.ts";
import { pathOf } from "./record-verbs.ts";

/** `messages list`, `show` and `timeline`. */
export function addMessageCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "messages", "read messages, and what happened to them");
  addList(noun, { summary: "list an account's messages, the newest first", list: MESSAGES });
  noun.verb({
    usage: "show <id>",
    summary: "show a message, of whichever account and channel",
    work: async (run) => run.print(await run.client.request("GET", pathOf("messages", run)), formatFields),
  });
  addTimeline(noun);
}

const MESSAGES: List = {
  path: "messages",
  columns: [
    column("ID", "message_id"),
    column("STATUS", "status"),
    { head: "TO", of: ({ to }) => addressesOf(to) },
    { head: "FROM", of: ({ from }) => addressesOf(from) },
    column("CREATED", "created_at"),
    errorColumn,
  ],
  filters: [
    { flags: "--account <id>", field: "account_id", meaning: "whose messages", isRequired: true },
    { flags: "--channel <channel>", field: "channel", meaning: "sms or email", isRequired: true },
    { flags: "--status <status>", field: "status", meaning: "only in this status" },
    { flags: "--to <recipient>", field: "to", meaning: "only to this number or address" },
    { flags: "--tag <tag>", field: "tag", meaning: "only with this tag" },
    {
      flags: "--since <time>",
      field: "created_after",
      meaning: "only created at this time (ISO 8601) or later",
    },
    { flags: "--until <time>", field: "created_before", meaning: "only created before this time" },
  ],
  pages: { ...PAGES, counts: "up to 200; 50 if not given" },
};

/** Recipients or a sender as text: an SMS has them as text, an email as objects with an address. */
function addressesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(addressesOf).join(", ");
  return isObject(value) ? value.email : value;
}

const TIMELINE_COLUMNS: readonly Column[] = [
  column("AT", "at"),
  column("KIND", "kind"),
  column("STATUS", "status"),
  column("RECIPIENT", "recipient"),
  errorColumn,
  column("DETAIL", "detail"),
];

function addTimeline(noun: NounCommand): void {
  noun
    .verb({
      usage: "timeline <id>",
      summary: "show everything that happened to a message",
      async work(run) {
        const { account: account_id, channel } = run.options as Record<string, string | undefined>;
        const options = { query: { account_id, channel } };
        const answer = await run.client.request("GET", `${pathOf("messages", run)}/timeline`, options);
        run.printRows(TIMELINE_COLUMNS, withAccepted(answer as Timeline), answer);
      },
    })
    .option("--account <id>", "only if it is this account's")
    .addOption(new Option("--channel <channel>", "only if it is of this channel").choices(CHANNELS));
}

interface Timeline {
  /** Absent in the answer of an earlier version. */
  readonly created_at?: string;
  readonly data: readonly Row[];
}

/** Adds a first row for the acceptance: from then to the next row the message waited. */
function withAccepted({ created_at: at, data }: Timeline): { readonly data: readonly Row[] } {
  return { data: at === undefined ? data : [{ at, kind: "accepted" }, ...data] };
}
