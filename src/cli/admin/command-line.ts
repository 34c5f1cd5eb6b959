/** What all commands share: their options, the connection to the server, and how answers and failures are printed. */
import { type AddHelpTextContext, type Command, type CommanderError, Option } from "commander";
import { CommandFailure, UsageFailure } from "../command-failure.ts";
import type { AdminTarget } from "../config.ts";
import type { Terminal } from "../terminal.ts";
import { type AdminClient, createAdminClient } from "./admin-client.ts";
import { COMMAND_HELP } from "./command-help.ts";
import { findServer } from "./find-server.ts";
import { namedAsOption } from "./flag-names.ts";
import { refuseMissing } from "./needed-options.ts";
import { formatTable, toCell, toJson, toLines } from "./table.ts";

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

/** Prints help and usage errors to the terminal, and ends with code 2 on an error. Commands added to this one do the same. */
export function tellUsage(command: Command, terminal: Terminal): void {
  command.configureOutput({ writeOut: terminal.stdout, writeErr: terminal.stderr });
  command.configureHelp(COMMAND_HELP);
  command.showHelpAfterError("Add --help to see the commands and options.");
  command.addHelpText("before", refuseUnknown);
  command.hook("preAction", (_, called) => refuseMissing(called));
  command.exitOverride((error: CommanderError) => terminal.exit(error.exitCode === 0 ? 0 : 2));
}

/**
 * For `help nope` and `nope --help`, Commander would show what there is, without a word of what there is not: it is refused as
 * `nope` itself.
 */
function refuseUnknown({ command }: AddHelpTextContext): string {
  const word = command.args.find((arg) => arg !== "help");
  const isCommand = ({ commands }: Command) => commands.some((each) => each.name() === word);
  const isOption = word?.startsWith("-");
  if (word !== undefined && !isOption && command.commands.length > 0 && !isCommand(command))
    command.parse([word], { from: "user" });
  return "";
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
    exitCode = report(error, terminal, command);
  }
  if (exitCode !== 0) terminal.exit(exitCode);
}

/**
 * Prints the error and returns the exit code. Bugs are thrown on, so that their stack is shown.
 *
 * @param command its options stand for the fields that were refused
 */
export function report(error: unknown, terminal: Terminal, command?: Command): number {
  if (error instanceof UsageFailure) {
    terminal.stderr(`error: ${toCell(error.message)}\n`);
    return 2;
  }
  if (!(error instanceof CommandFailure)) throw error;
  const fields = Object.entries(error.fields)
    .map(([name, reason]) => (command ? namedAsOption(command, name, reason) : { name, reason }))
    .map(({ name, reason }) => `  ${toCell(name)}: ${toCell(reason)}\n`);
  terminal.stderr(`error: ${toCell(error.message)}\n${fields.join("")}`);
  return 1;
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
