/** `webhooks`: events and their deliveries, replays, tests, paused hosts, and the secrets that sign. */
import { CommandFailure, UsageFailure } from "../commands/command-failure.ts";
import { needed } from "../commands/needed-options.ts";
import { formatFields } from "../commands/table.ts";
import {
  addNoun,
  type Column,
  type CommandLine,
  column,
  errorColumn,
  type NounCommand,
  type Row,
  type Run,
  rowsText,
} from "./command-line.ts";
import { addList, addListOptions, type List, ORDER, PAGES, showList } from "./lists.ts";
import { addOptions } from "./option-rows.ts";
import { pathOf } from "./record-verbs.ts";

export function addWebhookCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "webhooks", "manage webhooks");
  addEvents(noun);
  addShow(noun);
  addAttempts(noun);
  addReplay(noun);
  addTest(noun);
  addList(noun, { usage: "hosts", summary: "list paused hosts, and why they are paused", list: HOSTS });
  addSecret(noun);
}

const EVENTS: List = {
  path: "webhooks",
  columns: [
    column("WEBHOOK-ID", "id"),
    column("TYPE", "type"),
    column("HOST", "host"),
    column("STATE", "state"),
    column("ATTEMPTS", "attempts"),
    column("OCCURRED", "occurred_at"),
    column("NEXT ATTEMPT", "next_attempt_at"),
    { head: "LAST RESULT", of: ({ last_attempt: last }) => last && resultOf(last as Row) },
  ],
  filters: [
    {
      flags: "--account <id>",
      field: "account_id",
      meaning: "the account; needed unless a message is named",
    },
    { flags: "--message <id>", field: "message_id", meaning: "the events of this message" },
    {
      flags: "--host <host>",
      field: "host",
      meaning: "only to this host (with its port, unless that is 443), or to the host of this URL",
    },
    {
      flags: "--state <state>",
      field: "state",
      meaning: "only held, ready, waiting, leased, delivered or failed",
    },
    { flags: "--since <time>", field: "since", meaning: "only events at this time (ISO 8601) or later" },
    { flags: "--until <time>", field: "until", meaning: "only events before this time" },
    ORDER,
  ],
  pages: PAGES,
};

/** What the receiver answered, or why it did not. */
function resultOf(attempt: Row): unknown {
  return attempt.status ?? errorColumn.of(attempt);
}

function addEvents(noun: NounCommand): void {
  const verb = noun.verb({
    usage: "list",
    summary: "list events for callback URLs, with the state of their delivery",
    async work(run) {
      if (run.options.account === undefined && run.options.message === undefined)
        throw new UsageFailure("name an account with --account, or a message with --message");
      await showList(run, EVENTS);
    },
  });
  addListOptions(verb, EVENTS);
}

const ATTEMPT_COLUMNS: readonly Column[] = [
  column("AT", "at"),
  column("MS", "latency_ms"),
  column("STATUS", "status"),
  errorColumn,
  column("ANSWER", "answer"),
];

/** The event, and below it what `attempts` shows. */
function addShow(noun: NounCommand): void {
  noun.verb({
    usage: "show <webhook-id>",
    summary: "show an event, and its last deliveries with the answers",
    work: async (run) =>
      run.print(await run.client.request("GET", pathOf("webhooks", run)), (event: ShownEvent) =>
        eventText(event, noun.terminal.columns),
      ),
  });
}

interface ShownEvent extends Row {
  readonly last_attempts: readonly Row[];
}

function eventText(event: ShownEvent, width: number | undefined): string {
  const { last_attempt: _, last_attempts: data, ...fields } = event;
  const attempts = data.length > 0 ? `\n${rowsText(ATTEMPT_COLUMNS, { data }, width)}` : "";
  return formatFields(fields) + attempts;
}

function addAttempts(noun: NounCommand): void {
  noun.verb({
    usage: "attempts <webhook-id>",
    summary: "show the last deliveries of an event, with the answers",
    work: async (run) =>
      run.printRows(ATTEMPT_COLUMNS, await run.client.request("GET", `${pathOf("webhooks", run)}/attempts`)),
  });
}

function addReplay(noun: NounCommand): void {
  noun
    .verb({
      usage: "replay [webhook-id]",
      summary: "deliver again: one event, or all delivered and failed, or all waiting events of an account",
      async work(run) {
        const replayed = run.args[0] === undefined ? await replayMany(run) : await replayOne(run);
        run.print({ replayed }, () => `${replayed} queued for delivery again\n`);
      },
    })
    .option(
      "--account <id>",
      "the account; needed unless a webhook-id is given, with --host, --since or --until",
    )
    .option(
      "--host <host>",
      "only events for this host (with its port, unless that is 443), or for the host of this URL",
    )
    .option("--failed", "only failed events")
    .option("--waiting", "only events that wait for their next try: now")
    .option("--since <time>", "only events at this time (ISO 8601) or later")
    .option("--until <time>", "only events before this time");
}

/** Printed if neither a host nor a time is given: all receivers of the account would get the events of a week once more. */
const OF_WHICH =
  "which of its events? name a host with --host, or a time with --since or --until; --failed leaves out what was delivered";

interface Replayed {
  readonly replayed: number;
  readonly next?: string;
}

async function replayOne(run: Run): Promise<number> {
  const { account, host, failed, waiting, since, until } = run.options;
  if ([account, host, failed, waiting, since, until].some((given) => given !== undefined))
    throw new UsageFailure("name a webhook-id, or which of an account's with options: not both");
  return ((await run.client.request("POST", `${pathOf("webhooks", run)}/replay`)) as Replayed).replayed;
}

/** Each request replays a limited number of events. `next` says where the following one goes on. */
async function replayMany({ client, options }: Run): Promise<number> {
  const { account, host, failed, waiting, since, until } = options as Record<string, string | undefined>;
  if (account === undefined) throw new UsageFailure("name a webhook-id, or an account with --account");
  if ([host, since, until].every((given) => given === undefined)) throw new UsageFailure(OF_WHICH);
  let replayed = 0;
  let after: string | undefined;
  do {
    const body = { account_id: account, host, failed, waiting, since, until, after };
    const answer = (await client.request("POST", "webhooks/replay", { body }).catch((error) => {
      throw cutShort(error, replayed);
    })) as Replayed;
    replayed += answer.replayed;
    after = answer.next;
  } while (after !== undefined);
  return replayed;
}

/** Adds how many events were replayed before the failure: an operator who repeats the command should know that these come once more. */
function cutShort(error: unknown, replayed: number): unknown {
  if (!(error instanceof CommandFailure) || replayed === 0) return error;
  return new CommandFailure(
    `${error.message}; before that ${replayed} were queued for delivery again`,
    error.fields,
  );
}

function addTest(noun: NounCommand): void {
  const verb = noun.verb({
    usage: "test",
    summary: "deliver a test event to a URL at once, and show the result",
    async work(run) {
      const { account, to } = run.options as { account: string; to: string };
      const body = { account_id: account, url: to };
      const answer = (await run.client.request("POST", "webhooks/test", { body })) as Row;
      run.print(answer, (attempt: Row) => `${formatFields(attempt)}${adviceOn(attempt)}`);
      if (answer.ok !== true) run.fail();
    },
  });
  addOptions(verb, [
    { flags: "--account <id>", field: "account_id", meaning: "whose secrets sign it", isRequired: true },
    { flags: "--to <url>", field: "url", meaning: "the https:// URL", isRequired: true },
  ]);
}

/** These two are how receivers answer a signature that they do not take; the answer itself mostly says nothing. */
function adviceOn({ status }: Row): string {
  return status === 401 || status === 403 ? REFUSED : "";
}

const REFUSED =
  "If the receiver checks the signature: is its secret one of `webhooks secret --account ID`, and do its clock and this machine's agree?\n";

const HOSTS: List = {
  path: "webhooks/hosts",
  columns: [
    column("HOST", "host"),
    column("ACCOUNT", "account_id"),
    column("PAUSED UNTIL", "paused_until"),
    column("FAILURES", "failures"),
    column("REASON", "reason"),
  ],
  // Without it an empty list would look as if no host were paused.
  remark: (answer) => ((answer as HostsAnswer).is_delivering === false ? NOT_DELIVERING : undefined),
};

interface HostsAnswer {
  readonly is_delivering?: boolean;
}

const NOT_DELIVERING =
  "the process that answers delivers no webhooks, and so pauses no host: ask one with the role webhooks";

interface Secrets {
  readonly secrets: readonly { readonly secret: string }[];
}

function addSecret(noun: NounCommand): void {
  noun
    .verb({
      usage: "secret",
      summary: "show the secrets that sign an account's webhooks, newest first",
      async work({ client, options, print }) {
        const { account: account_id, rotate, newest } = options as Record<string, string | undefined>;
        if (newest !== undefined && !rotate) throw new UsageFailure("--newest goes with --rotate");
        const query = { account_id, newest };
        const shown = rotate
          ? await client.request("POST", "webhooks/secret/rotate", { query })
          : await client.request("GET", "webhooks/secret", { query });
        print(shown, ({ secrets }: Secrets) => secrets.map(({ secret }) => `${secret}\n`).join(""));
      },
    })
    .addOption(needed("--account <id>", "the account"))
    .option("--rotate", "make a new one; the one before stays valid beside it")
    .option("--newest <time>", "when the newest one was made; needed to rotate again within a minute");
}
