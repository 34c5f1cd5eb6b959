/** What all commands that speak to a server share: their options, the connection, and how answers are printed. */
import { type Command, Option } from "commander";
import { report } from "../commands/report.ts";
import { formatTable, toJson, toLines } from "../commands/table.ts";
import type { Terminal } from "../commands/terminal.ts";
import { tellUsage } from "../commands/usage.ts";
import type { AdminTarget } from "../config.ts";
import { type AdminClient, createAdminClient } from "./admin-client.ts";
import { findServer } from "./find-server.ts";
import { namedAsOption } from "./flag-names.ts";

export interface CommandLine {
  readonly program: Command;
  readonly target: AdminTarget;
  readonly terminal: Terminal;
}

/** One command at work. */
export interface Run {
  readonly client: AdminClient;
  /** What was typed after the command, without options. */
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** Prints the answer: as JSON with `--json`, otherwise as `toText` makes it. */
  print(answer: unknown, toText: (answer: never) => string): void;
  /**
   * Prints a page of a list as a table, with the option that shows the next page.
   *
   * @param answer what `--json` prints; by default the page
   */
  printRows(columns: readonly Column[], page: unknown, answer?: unknown): void;
  /** Makes the command end with code 1: it did its work, but the result is bad. */
  fail(): void;
}

/** A noun of the command line, to which verbs are added. */
export interface NounCommand {
  readonly command: Command;
  readonly terminal: Terminal;
  /** Adds a verb; returns it, for its options. */
  verb(verb: Verb): Command;
}

export function addNoun(commandLine: CommandLine, name: string, description: string): NounCommand {
  const { program, terminal } = commandLine;
  const command = program.command(name).description(description);
  tellUsage(command, terminal);
  return { command, terminal, verb: (verb) => addVerb(command, commandLine, verb) };
}

/** Adds a verb that other nouns have, to suggest the one that it is here: the words differ too much for Commander to suggest it by itself. */
export function addMistakenVerb({ command }: NounCommand, typed: string, meant: string): void {
  const refuse = (): never => command.error(`error: unknown command '${typed}'\n(Did you mean ${meant}?)`);
  const verb = command.command(typed, { hidden: true }).allowUnknownOption().allowExcessArguments();
  verb.action(refuse).addHelpText("before", refuse);
}

interface Verb {
  /** The verb and its arguments, for example `show <id>`. */
  readonly usage: string;
  /** For `--help`. */
  readonly summary: string;
  work(run: Run): Promise<void>;
}

function addVerb(noun: Command, commandLine: CommandLine, { usage, summary, work }: Verb): Command {
  return noun
    .command(usage)
    .description(summary)
    .addOption(new Option("--json", "print the answer as JSON"))
    .addOption(new Option("--url <url>", "the server; else POSTRIDER_URL, else sandbox.json"))
    .addOption(new Option("--token <token>", "else POSTRIDER_ADMIN_TOKEN, else sandbox.json"))
    .action((...given) => runVerb(given.at(-1) as Command, commandLine, work));
}

async function runVerb(
  command: Command,
  { target, terminal }: CommandLine,
  work: Verb["work"],
): Promise<void> {
  const options = command.opts();
  let exitCode = 0;
  const print: Run["print"] = (answer, toText) =>
    terminal.stdout(options.json ? `${toJson(answer)}\n` : toLines(toText(answer as never)));
  try {
    await work({
      client: createAdminClient(findServer(target, options)),
      args: command.args,
      options,
      print,
      printRows: (columns, page, answer = page) =>
        print(answer, () => rowsText(columns, page as Page, terminal.columns)),
      fail() {
        exitCode = 1;
      },
    });
  } catch (error) {
    exitCode = report(error, terminal, (field, reason) => namedAsOption(command, field, reason));
  }
  if (exitCode !== 0) terminal.exit(exitCode);
}

export type Row = Readonly<Record<string, unknown>>;

export interface Column {
  readonly head: string;
  readonly of: (row: Row) => unknown;
}

/** A column that shows a field as it is. */
export function column(head: string, field: string): Column {
  return { head, of: (row) => row[field] };
}

/** A column for what failed: its code, by which the documentation lists causes, and its message. */
export const errorColumn: Column = {
  head: "ERROR",
  of: ({ error }) => error && `${(error as Row).code}: ${(error as Row).message}`,
};

interface Page {
  readonly data: readonly Row[];
  readonly next?: string;
}

/** A page as a table, with the option that shows the next one. */
export function rowsText(
  columns: readonly Column[],
  { data, next }: Page,
  width: number | undefined,
): string {
  if (data.length === 0) return "none\n";
  const heads = columns.map((column) => column.head);
  const rows = data.map((row) => columns.map((column) => column.of(row)));
  return formatTable(heads, rows, width) + (next ? `more: --after ${next}\n` : "");
}
