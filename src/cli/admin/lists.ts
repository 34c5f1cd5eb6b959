/** Lists of the admin API: how a command shows one, and its options. */
import type { Command } from "commander";
import type { Column, NounCommand, Run } from "./command-line.ts";
import { PLACE_OF_CURSOR } from "./flag-names.ts";
import { addOptions, fieldsOf, type OptionRow } from "./option-rows.ts";

export interface List {
  /** Below `/admin/v1/`. */
  readonly path: string;
  readonly columns: readonly Column[];
  readonly filters?: readonly OptionRow[];
  /** Absent if one answer holds the whole list. */
  readonly pages?: Pages;
  /** What is to be said of an answer besides, on standard error. */
  readonly remark?: (answer: unknown) => string | undefined;
}

/** The pages of a list that may be long. */
export interface Pages {
  /** The API's name for the place where a page continues. On the command line it is `--after` for every list. */
  readonly cursor: string;
  /** How many entries a page holds, in words. */
  readonly counts: string;
}

export const PAGES: Pages = { cursor: "after", counts: "up to 1000; 100 if not given" };

/** The option of lists that may begin at either end. */
export const ORDER: OptionRow = {
  flags: "--order <order>",
  field: "order",
  meaning: "oldest or newest first; oldest if not given",
};

export interface ListVerb {
  /** The verb; absent: `list`. */
  readonly usage?: string;
  readonly summary: string;
  readonly list: List;
}

export function addList(command: NounCommand, { usage = "list", summary, list }: ListVerb): void {
  const work = async (run: Run) => {
    const answer = await showList(run, list);
    const remark = list.remark?.(answer);
    if (remark !== undefined) command.terminal.stderr(`${remark}\n`);
  };
  addListOptions(command.verb({ usage, summary, work }), list);
}

/** Resolves with the answer that it has shown. */
export async function showList(run: Run, { path, columns, filters = [], pages }: List): Promise<unknown> {
  const query = fieldsOf([...filters, ...pagingOptions(pages)], run.options) as Record<string, string>;
  const answer = await run.client.request("GET", path, { query });
  run.printRows(columns, answer);
  return answer;
}

export function addListOptions(verb: Command, { filters = [], pages }: List): void {
  addOptions(verb, [...filters, ...pagingOptions(pages)]);
}

function pagingOptions(pages: Pages | undefined): readonly OptionRow[] {
  if (!pages) return [];
  return [
    { flags: "--limit <count>", field: "limit", meaning: `how many to list, ${pages.counts}` },
    { flags: "--after <cursor>", field: pages.cursor, meaning: `continue after a page: ${PLACE_OF_CURSOR}` },
  ];
}
