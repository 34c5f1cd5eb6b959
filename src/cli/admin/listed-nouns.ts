/** Nouns that can only be listed. */
import { addNoun, type CommandLine, column } from "./command-line.ts";
import { addList, type ListVerb, PAGES } from "./lists.ts";

export interface ListedNoun extends Pick<ListVerb, "summary" | "list"> {
  readonly name: string;
  readonly description: string;
}

export function addListedNoun(commandLine: CommandLine, { name, description, ...verb }: ListedNoun): void {
  addList(addNoun(commandLine, name, description), verb);
}

/** Messages from handsets. */
export const INBOUND: ListedNoun = {
  name: "inbound",
  description: "read inbound SMS",
  summary: "list inbound SMS of the last 7 days, newest first",
  list: {
    path: "inbound-messages",
    columns: [
      column("RECEIVED", "received_at"),
      { head: "ACCOUNT", of: (row) => row.account_id ?? "nobody" },
      column("FROM", "from"),
      column("TO", "to"),
      column("KEYWORD", "keyword"),
      column("TEXT", "text"),
    ],
    filters: [
      {
        flags: "--account <id>",
        field: "account_id",
        meaning: "the account; none: messages that belong to no account",
      },
      { flags: "--from <number>", field: "from", meaning: "only what this number wrote" },
      { flags: "--to <number>", field: "to", meaning: "only what was written to this number" },
    ],
    pages: { ...PAGES, cursor: "cursor" },
  },
};

export const QUEUES: ListedNoun = {
  name: "queues",
  description: "see what waits to be sent",
  summary:
    "list the queues, of routes and of connectors that alone may send a message, with what is ready to be sent",
  list: {
    path: "queues",
    columns: [
      column("QUEUE", "queue"),
      { head: "READY", of: ({ ready, has_more }) => (has_more ? `${ready}+` : ready) },
      column("OLDEST", "oldest_ready_at"),
    ],
  },
};

export const ALARMS: ListedNoun = {
  name: "alarms",
  description: "list alarms",
  summary: "list raised alarms, the oldest first",
  list: {
    path: "alarms",
    columns: [
      column("ALARM", "name"),
      column("SUBJECT", "subject"),
      column("CONNECTOR", "subject_name"),
      column("SINCE", "since"),
      column("RAISED", "raised_at"),
      column("REASON", "reason"),
    ],
    remark: (answer) => whoseAlarms(answer as AlarmsAnswer),
  },
};

interface AlarmsAnswer {
  readonly is_watching?: boolean;
  /** Absent where there is one process. */
  readonly process?: string;
}

/** Without it an empty list would look like an all-clear. */
function whoseAlarms({ is_watching: isWatching, process }: AlarmsAnswer): string | undefined {
  if (isWatching === false) return NOT_WATCHING;
  return process && `of ${process}, the process that answers: any other that delivers has alarms of its own`;
}

const NOT_WATCHING =
  "the process that answers does not deliver, and so watches for no alarms: those that deliver tell of theirs in their logs, in /metrics and to the alarm webhook";
