import type { Command } from "commander";
import { Option } from "commander";
import { addNoun, addVerb, type CommandLine, type Row, type Run, UsageFailure } from "./command-line.ts";
import type { Noun } from "./nouns.ts";
import type { OptionRow } from "./option-rows.ts";
import { formatFields } from "./table.ts";

/** `create`, `list`, `show`, `update` and `delete` (keys: `revoke`) of a noun. */
export function addNounCommands(program: Command, commandLine: CommandLine, noun: Noun): Command {
  const command = addNoun(program, commandLine, noun.name).description(`manage ${pluralOf(noun)}`);
  addCreate(command, commandLine, noun);
  addReading(command, commandLine, noun);
  addUpdate(command, commandLine, noun);
  addRemoval(command, commandLine, noun);
  return command;
}

function addCreate(command: Command, commandLine: CommandLine, noun: Noun): void {
  const verb = addVerb(command, commandLine, {
    usage: "create",
    summary: `create one ${noun.one}`,
    async work(run) {
      const record = (await run.client.request("POST", noun.name, {
        body: fieldsOf(noun.create, run.options),
      })) as Row;
      printCreated(run, noun, record);
    },
  });
  addOptions(verb, noun.create);
}

export function printCreated(run: Run, noun: CreatedNoun, record: Row): void {
  run.print(createdAnswer(noun, record), () => recordText(noun, record) + (noun.onCreated?.(record) ?? ""));
}

export type CreatedNoun = Pick<Noun, "one" | "createdFields" | "onCreated" | "footer">;

function createdAnswer({ createdFields }: CreatedNoun, record: Row): Row {
  return createdFields ? Object.fromEntries(createdFields.map((field) => [field, record[field]])) : record;
}

/** `list` and `show`, for every noun alike. */
export function addReading(
  command: Command,
  commandLine: CommandLine,
  noun: Pick<Noun, "name" | "one" | "columns" | "filters" | "footer">,
): void {
  const list = addVerb(command, commandLine, {
    usage: "list",
    summary: `list ${pluralOf(noun)}`,
    work: async (run) => run.printRows(noun.columns, await readPage(run, noun.name, noun.filters)),
  });
  addOptions(list, noun.filters);
  addPaging(list);
  addVerb(command, commandLine, {
    usage: "show <id>",
    summary: `show one ${noun.one}`,
    work: async (run) =>
      run.print(await run.client.request("GET", pathOf(noun.name, run)), (record) =>
        recordText(noun, record),
      ),
  });
}

export function readPage(run: Run, path: string, filters: readonly OptionRow[]): Promise<unknown> {
  const { after, limit } = run.options as { after?: string; limit?: string };
  const query = fieldsOf(filters, run.options) as Record<string, string>;
  return run.client.request("GET", path, { query: { ...query, after, limit } });
}

export function addPaging(verb: Command): void {
  verb.option("--limit <count>", "how many to list, up to 1000; 100 if not given");
  verb.option("--after <cursor>", "continue after a page: the cursor that it ended with");
}

function addUpdate(command: Command, commandLine: CommandLine, noun: Noun): void {
  const verb = addVerb(command, commandLine, {
    usage: "update <id>",
    summary: `change one ${noun.one}; an empty value clears`,
    async work(run) {
      const body = withClears(fieldsOf(noun.update, run.options), noun.update);
      if (isNothing(body)) throw nothingToChange(joinWithOr(noun.update.map(({ flags }) => nameOf(flags))));
      run.print(await run.client.request("PATCH", pathOf(noun.name, run), { body }), (record) =>
        recordText(noun, record),
      );
    },
  });
  addOptions(verb, noun.update);
}

/** The API accepts a change of nothing; on the command line something was forgotten. */
export function nothingToChange(options: string): UsageFailure {
  return new UsageFailure(`nothing was given to change: give ${options}`);
}

export function isNothing(fields: Row): boolean {
  return Object.values(fields).every((value) => value === undefined);
}

/** Makes empty values `null`, with which the API clears a field, except where an option may be empty. */
export function withClears(fields: Row, rows: readonly OptionRow[] = []): Row {
  const kept = rows.filter(({ mayBeEmpty }) => mayBeEmpty).map(({ field }) => field);
  const isEmpty = (value: unknown) => value === "" || (Array.isArray(value) && value.length === 0);
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => [
      field,
      isEmpty(value) && !kept.includes(field) ? null : value,
    ]),
  );
}

function addRemoval(command: Command, commandLine: CommandLine, noun: Noun): void {
  if (noun.name !== "keys") {
    addDelete(command, commandLine, noun);
    return;
  }
  addVerb(command, commandLine, {
    usage: "revoke <id>",
    summary: "revoke one API key: requests with it are refused from then on",
    work: async (run) =>
      run.print(await run.client.request("POST", `${pathOf("keys", run)}/revoke`), (record) =>
        recordText(noun, record),
      ),
  });
}

export function addDelete(
  command: Command,
  commandLine: CommandLine,
  noun: Pick<Noun, "name" | "one">,
): void {
  addVerb(command, commandLine, {
    usage: "delete <id>",
    summary: `delete one ${noun.one}`,
    async work(run) {
      await run.client.request("DELETE", pathOf(noun.name, run));
      run.print({ id: run.args[0], deleted: true }, () => `deleted the ${noun.one} ${run.args[0]}\n`);
    },
  });
}

export function pathOf(noun: string, { args }: Run): string {
  return `${noun}/${encodeURIComponent(args[0] ?? "")}`;
}

export function recordText({ footer }: Pick<Noun, "footer">, record: Row): string {
  // The answer repeats the id under a second name, for scripts.
  const lines = Object.entries(record).filter(
    ([field, value]) => field !== footer?.field && (field === "id" || value !== record.id),
  );
  return formatFields(Object.fromEntries(lines)) + (footer?.text(record[footer.field] as never) ?? "");
}

function addOptions(verb: Command, rows: readonly OptionRow[]): void {
  for (const row of rows) {
    const meaning = row.isList ? `${row.meaning} (repeatable)` : row.meaning;
    const option = new Option(row.flags, meaning).makeOptionMandatory(row.isRequired ?? false);
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
function fieldsOf(rows: readonly OptionRow[], options: Run["options"]): Record<string, unknown> {
  const given = rows.map((row) => [row.field, givenTo(row, options)] as const);
  return Object.fromEntries(given.filter(([, value]) => value !== undefined));
}

function givenTo({ flags, parse }: OptionRow, options: Run["options"]): unknown {
  const value = options[new Option(flags).attributeName()];
  return parse && Array.isArray(value) ? value.map(parse) : value;
}

/** `--name <name>` as `--name`. */
function nameOf(flags: string): string {
  return flags.split(" ")[0] ?? "";
}

/** `--one`, `--one or --two`, `--one, --two or --three`. */
function joinWithOr(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} or ${last}`;
}

function pluralOf({ one }: Pick<Noun, "one">): string {
  return /[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`;
}
