import type { RecordKind } from "../../../core/records/accounts.ts";
import { ERASED_START, erasableField } from "../../erasures/erased-recipient.ts";
import { casesOf, formsOf, type RecordSearch } from "../../records/record-search.ts";
import { comparable, RECORD_TABLES } from "../../records/record-tables.ts";

/** The test in SQL by which a search finds records. `first`: the number of the first placeholder of its values. */
export function searchTest<K extends RecordKind>(
  kind: K,
  { fields }: RecordSearch<K>,
  first: number,
): string {
  const tests = fields.map((field) => {
    const { name } = comparable(RECORD_TABLES[kind], field);
    const isNoForm = field === erasableField(kind) ? ` AND ${name} NOT LIKE '${ERASED_START}%'` : "";
    return `${name} COLLATE "C" ~ $${first + 1}${isNoForm}`;
  });
  return `(${[`id = $${first}`, ...tests].join(" OR ")})`;
}

/** The values of the test. */
export function searchValues({
  text,
}: Pick<RecordSearch<RecordKind>, "text">): [id: string, pattern: string] {
  return [text.toLowerCase(), formsOf(text).map(regexOf).join("|")];
}

/** `Ab*` as `[Aa][bB]\*`, a regular expression. */
function regexOf(text: string): string {
  const characters = casesOf(text).map((cases) => {
    const all = cases.join("");
    return cases.length > 1 ? `[${all}]` : all.replace(MEANING_MORE, "\\$&");
  });
  return characters.join("");
}

/** What stands for more than itself in a regular expression. */
const MEANING_MORE = /[.*+?^$|\\()[\]{}]/;
