import type { RecordKind } from "../../../core/records/accounts.ts";
import { ERASED_START, erasableField } from "../../erasures/erased-recipient.ts";
import { casesOf, formsOf, type RecordSearch } from "../../records/record-search.ts";
import { comparable, RECORD_TABLES } from "../../records/record-tables.ts";
import type { Tests } from "../database/select-in-pieces.ts";

/** The test in SQL by which a search finds records; none without a search. */
export function searchTests<K extends RecordKind>(kind: K, search: RecordSearch<K> | undefined): Tests {
  if (!search) return { tests: [], values: [] };
  const { text, fields } = search;
  const globs = formsOf(text).map(globOf);
  const tests = fields.map((field) => {
    const { name } = comparable(RECORD_TABLES[kind], field);
    const isNoForm = field === erasableField(kind) ? ` AND ${name} NOT GLOB '${ERASED_START}*'` : "";
    return `(${globs.map(() => `${name} GLOB ?`).join(" OR ")})${isNoForm}`;
  });
  return {
    tests: [`(${["id = ?", ...tests].join(" OR ")})`],
    values: [text.toLowerCase(), ...fields.flatMap(() => globs)],
  };
}

/** `Ab*` as `*[Aa][bB][*]*`. */
function globOf(text: string): string {
  const characters = casesOf(text).map((cases) => {
    const all = cases.join("");
    return cases.length > 1 || WILDCARDS.has(all) ? `[${all}]` : all;
  });
  return `*${characters.join("")}*`;
}

/** What stands for other characters outside of brackets. */
const WILDCARDS: ReadonlySet<string> = new Set(["*", "?", "["]);
