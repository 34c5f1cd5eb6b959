/** Verbs that the nouns of many records share, and what they print. */
import { UsageFailure } from "../commands/command-failure.ts";
import { formatFields } from "../commands/table.ts";
import type { NounCommand, Row, Run } from "./command-line.ts";
import { addList, PAGES } from "./lists.ts";
import type { Noun } from "./nouns.ts";
import type { OptionRow } from "./option-rows.ts";

/** `list` and `show`, for every noun alike; a list has the filters of its noun and no others. */
export function addReading(
  command: NounCommand,
  noun: Pick<Noun, "name" | "one" | "columns" | "filters" | "footer">,
): void {
  const { name: path, columns, filters } = noun;
  addList(command, {
    summary: `list ${pluralOf(noun)}`,
    list: { path, columns, filters, pages: PAGES },
  });
  command.verb({
    usage: "show <id>",
    summary: `show one ${noun.one}`,
    work: async (run) =>
      run.print(await run.client.request("GET", pathOf(noun.name, run)), (record) =>
        recordText(noun, record),
      ),
  });
}

/** Of every list of records. What each record is called by, the description of the API says. */
export const SEARCH: OptionRow = {
  flags: "--search <text>",
  field: "search",
  meaning: "only what has this in its name, number or address, in upper or lower case; or the whole id",
};

export function addDelete(command: NounCommand, noun: Pick<Noun, "name" | "one" | "goesToo">): void {
  command.verb({
    usage: "delete <id>",
    summary: `delete one ${noun.one}${noun.goesToo ? `, with ${noun.goesToo}` : ""}`,
    async work(run) {
      await run.client.request("DELETE", pathOf(noun.name, run));
      run.print({ id: run.args[0], deleted: true }, () => `deleted the ${noun.one} ${run.args[0]}\n`);
    },
  });
}

export function pathOf(noun: string, { args }: Run): string {
  return `${noun}/${encodeURIComponent(args[0] ?? "")}`;
}

export type CreatedNoun = Pick<Noun, "one" | "createdFields" | "onCreated" | "footer">;

export function printCreated(run: Run, noun: CreatedNoun, record: Row): void {
  run.print(createdAnswer(noun, record), () => recordText(noun, record) + (noun.onCreated?.(record) ?? ""));
}

function createdAnswer({ createdFields }: CreatedNoun, record: Row): Row {
  return createdFields ? Object.fromEntries(createdFields.map((field) => [field, record[field]])) : record;
}

export function recordText({ footer }: Pick<Noun, "footer">, record: Row): string {
  // The answer repeats the id under a second name, for scripts.
  const lines = Object.entries(record).filter(
    ([field, value]) => field !== footer?.field && (field === "id" || value !== record.id),
  );
  return formatFields(Object.fromEntries(lines)) + (footer?.text(record[footer.field] as never) ?? "");
}

/** Turns empty values into `null`, by which the API clears a field, except those of options that may be empty. */
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

export function isNothing(fields: Row): boolean {
  return Object.values(fields).every((value) => value === undefined);
}

/** The API accepts an update without fields, but on the command line something was forgotten. */
export function nothingToChange(options: string): UsageFailure {
  return new UsageFailure(`nothing was given to change: give ${options}`);
}

export function pluralOf({ one }: Pick<Noun, "one">): string {
  return /[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`;
}
