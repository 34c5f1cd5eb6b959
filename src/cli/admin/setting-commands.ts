import { CommandFailure, UsageFailure } from "../commands/command-failure.ts";
import { readValue } from "../commands/input-file.ts";
import { toCell } from "../commands/table.ts";
import { addMistakenVerb, addNoun, type CommandLine, type Row, type Run } from "./command-line.ts";

export function addSettingCommands(commandLine: CommandLine): void {
  const noun = addNoun(commandLine, "settings", "read and change settings");
  noun
    .verb({
      usage: "get [name]",
      summary: "show the value of one setting, or all settings with defaults and descriptions",
      work: get,
    })
    .option("--account <id>", "as they are for this account");
  noun
    .verb({
      usage: "set <name> [value]",
      summary: "set one; without a value, reset it to its default; `-`: read the value from standard input",
      work: set,
    })
    .option("--account <id>", "for this account only")
    // A value may begin with dashes, as a certificate does: `set` itself refuses other words.
    .allowUnknownOption()
    .allowExcessArguments();
  for (const verb of ["list", "show"]) addMistakenVerb(noun, verb, "get");
}

async function get(run: Run): Promise<void> {
  const [name] = run.args;
  const query = { account_id: run.options.account as string | undefined };
  if (name === undefined) {
    run.print(await run.client.request("GET", "settings", { query }), ({ data }: { data: readonly Row[] }) =>
      data.map((row) => `${settingLine(row, MAX_LISTED)}    ${toCell(row.description)}\n`).join(""),
    );
    return;
  }
  const setting = await run.client.request("GET", `settings/${encodeURIComponent(name)}`, { query });
  // Not as a table cell: a certificate keeps its line breaks.
  run.print(setting, (row: Row) => `${row.value ?? ""}\n`);
}

async function set(run: Run): Promise<void> {
  const [name = "", typed] = run.args;
  refuseOtherWords(run.args);
  const value = typed === undefined ? null : await readValue(typed);
  const query = { account_id: run.options.account as string | undefined };
  const body = { [name]: value };
  const answer = await run.client.request("PUT", "settings", { query, body });
  const setting = (answer as { data: readonly Row[] }).data.find((row) => row.name === name);
  if (!setting)
    throw new CommandFailure(`the answer says nothing of ${name}: is Postrider behind this address?`);
  run.print(setting, settingLine);
}

/** Characters of a value in the list of all: a certificate has thousands. */
const MAX_LISTED = 200;

/** `name = value (set for the account; default: …)` */
function settingLine(row: Row, maxLength = Number.POSITIVE_INFINITY): string {
  const { name, value, default: standard, set_by: setBy } = row;
  const instead = standard === undefined ? "" : `; default: ${plain(standard)}`;
  const source = setBy === "default" ? "default" : `set for the ${setBy}${instead}`;
  const text = plain(value);
  const shown = text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
  return value === undefined ? `${name} is not set\n` : `${name} = ${shown} (${source})\n`;
}

function refuseOtherWords(words: readonly string[]): void {
  const option = words.find((word) => /^--?[A-Za-z]/.test(word));
  if (option !== undefined) throw new UsageFailure(`unknown option '${option}'`);
  if (words.length > 2) throw new UsageFailure("one name and one value; quote a value that has blanks");
}

/** As `set` takes it: `true` and `false`, not the yes and no of tables. */
function plain(value: unknown): string {
  return typeof value === "boolean" ? String(value) : toCell(value);
}
