/** Commands about other things than records: the sandbox's messages, a message's timeline, a domain's DNS and keys. */
import { type Command, Option } from "commander";
import { CHANNELS } from "../../core/messages/message.ts";
import {
  addNoun,
  addVerb,
  type Column,
  type CommandLine,
  column,
  type Row,
  rowsText,
} from "./command-line.ts";
import { addReceive } from "./inbound-commands.ts";
import { addPaging, pathOf, readPage, recordText } from "./noun-commands.ts";
import type { Noun } from "./nouns.ts";
import type { OptionRow } from "./option-rows.ts";
import { formatTable, toCell } from "./table.ts";

const SANDBOX_COLUMNS: readonly Column[] = [
  column("RECEIVED", "received_at"),
  column("MESSAGE", "message_id"),
  column("TO", "to"),
  column("SEGMENTS", "segments"),
  column("ENCODING", "encoding"),
  { head: "TEXT", of: (row) => row.text ?? row.subject },
];

const SANDBOX_FILTERS: readonly OptionRow[] = [
  { flags: "--account <id>", field: "account_id", meaning: "only of this account" },
  { flags: "--message <id>", field: "message_id", meaning: "only this message" },
  { flags: "--to <recipient>", field: "to", meaning: "only to this number or address" },
  { flags: "--channel <channel>", field: "channel", meaning: "only sms or email" },
];

export function addSandboxCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "sandbox").description(
    "read what the sandbox has sent, or simulate an inbound SMS",
  );
  const verb = addVerb(noun, commandLine, {
    usage: "messages",
    summary: "list what sandbox accounts have sent, as it would have been transmitted",
    work: async (run) =>
      run.print(await readPage(run, "sandbox/messages", SANDBOX_FILTERS), (page) =>
        rowsText(SANDBOX_COLUMNS, page),
      ),
  });
  for (const { flags, meaning } of SANDBOX_FILTERS) verb.option(flags, meaning);
  addPaging(verb);
  addReceive(noun, commandLine);
}

const TIMELINE_COLUMNS: readonly Column[] = [
  column("AT", "at"),
  column("KIND", "kind"),
  column("STATUS", "status"),
  column("RECIPIENT", "recipient"),
  { head: "ERROR", of: (row) => (row.error as Row | undefined)?.message },
  column("DETAIL", "detail"),
];

export function addMessageCommands(program: Command, commandLine: CommandLine): void {
  const noun = addNoun(program, commandLine, "messages").description("read what happened to messages");
  addVerb(noun, commandLine, {
    usage: "timeline <id>",
    summary: "show everything that happened to a message",
    async work(run) {
      const { account: account_id, channel } = run.options as Record<string, string | undefined>;
      const options = { query: { account_id, channel } };
      const answer = await run.client.request("GET", `${pathOf("messages", run)}/timeline`, options);
      run.print(answer, (page) => rowsText(TIMELINE_COLUMNS, page));
    },
  })
    .option("--account <id>", "only if it is this account's")
    .addOption(new Option("--channel <channel>", "only if it is one").choices(CHANNELS));
}

/** `domains verify`. */
export function addVerify(noun: Command, commandLine: CommandLine): void {
  addVerb(noun, commandLine, {
    usage: "verify <id>",
    summary: "check the domain's records in the DNS",
    async work(run) {
      const answer = await run.client.request("POST", `${pathOf("domains", run)}/verify`);
      run.print(answer, verificationText);
      if (!(answer as Row).verified) run.fail();
    },
  });
}

/** `domains rotate-dkim`. */
export function addRotateDkim(
  noun: Command,
  commandLine: CommandLine,
  { footer }: Pick<Noun, "footer">,
): void {
  addVerb(noun, commandLine, {
    usage: "rotate-dkim <id>",
    summary: "make new DKIM keys; the old ones sign until the new are in the DNS",
    work: async (run) =>
      run.print(await run.client.request("POST", `${pathOf("domains", run)}/rotate-dkim`), (record) =>
        recordText({ ...(footer && { footer }) }, record),
      ),
  });
}

function verificationText({ verified, records }: { verified: boolean; records: readonly Row[] }): string {
  const rows = records.map(({ ok, role, type, name, problem, found }) => [
    ok ? "ok" : role === "required" ? "missing" : role,
    type,
    name,
    problem ?? shortened(toCell(found)),
  ]);
  const verdict = verified
    ? "verified\n"
    : "not verified yet: changes in the DNS can take hours to be seen\n";
  return formatTable(["", "TYPE", "NAME", "FOUND"], rows) + verdict;
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
