/** Options of commands, as rows of tables: how a command gets them, and how what was typed becomes fields of the API. */
import { type Command, Option } from "commander";
import { needed } from "../commands/needed-options.ts";
import type { Run } from "./command-line.ts";
import type { FieldOption } from "./flag-names.ts";

export interface OptionRow {
  /** In commander's notation: `--name <name>`. */
  readonly flags: string;
  /** Its name in the API. */
  readonly field: string;
  readonly meaning: string;
  readonly isRequired?: boolean;
  /** Whether it may be given several times, or with several values separated by commas. */
  readonly isList?: boolean;
  /** Whether an empty value is sent as it is, in place of clearing the field. */
  readonly mayBeEmpty?: boolean;
  /** Turns an entry of a list into what the API takes; absent: the text itself. */
  readonly parse?: (entry: string) => unknown;
}

export function required(row: OptionRow): OptionRow {
  return { ...row, isRequired: true };
}

export function addOptions(verb: Command, rows: readonly OptionRow[]): void {
  for (const row of rows) {
    const meaning = row.isList ? `${row.meaning} (repeatable)` : row.meaning;
    const option: FieldOption = row.isRequired ? needed(row.flags, meaning) : new Option(row.flags, meaning);
    option.field = row.field;
    if (row.isList)
      option.argParser((value: string, before?: string[]) => [...(before ?? []), ...splitList(value)]);
    verb.addOption(option);
    if (!option.required)
      verb.addOption(new Option(row.flags.replace("--", "--no-"), `the opposite of ${row.flags}`));
  }
}

function splitList(value: string): readonly string[] {
  return value.split(",").filter(Boolean);
}

/** The options that were given, under the names of the API. */
export function fieldsOf(rows: readonly OptionRow[], options: Run["options"]): Record<string, unknown> {
  const given = rows.map((row) => [row.field, givenTo(row, options)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function givenTo({ flags, parse }: OptionRow, options: Run["options"]): unknown {
  const value = options[new Option(flags).attributeName()];
  return parse && Array.isArray(value) ? value.map(parse) : value;
}
