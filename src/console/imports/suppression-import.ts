/** Imports suppressions from a file. */
import { counted } from "../dom/counted.ts";
import { type Child, h } from "../dom/dom.ts";
import { facts, link, table } from "../dom/pieces.ts";
import { fieldsOf, labelOf, type Row } from "../forms/fields.ts";
import { toHash } from "../place.ts";
import { nameAccounts } from "../records/accounts.ts";
import { nameIn } from "../records/named.ts";
import { type References, readReferences, withChoices } from "../records/references.ts";
import type { View, Visit } from "../visit.ts";
import { type Checked, fileField, fileProblem, importView, readText } from "./import-page.ts";
import type { Tell } from "./progress.ts";
import { type RefusedRow, refusedRows } from "./refused-rows.ts";
import { chunksOf, type FileEntry, readEntries } from "./suppression-file.ts";

interface Part {
  readonly added: number;
  readonly kept: number;
  readonly refused: readonly { readonly index: number; readonly reason: string }[];
}

interface Report {
  readonly added: number;
  readonly kept: number;
  readonly refused: readonly RefusedRow[];
}

/** `#/suppressions/import?account_id=ID` */
export async function showSuppressionImport(visit: Visit): Promise<View> {
  const { client, place, schemas } = visit;
  const [known, schema] = await Promise.all([readReferences(client), schemas("post", "suppressions/import")]);
  const accounts = fieldsOf(schema).filter(({ name }) => name === "account_id");
  const plan = {
    title: "Import suppressions",
    fields: [...accounts.map((field) => withChoices(field, known)), FILE],
    values: place.query,
    back: toHash(["suppressions"], place.query),
    check: (given: Row) => check(given, known, visit),
  };
  return importView(plan, visit);
}

const FILE = fileField(
  "CSV with a column `email` and, if you like, `reason`, `source` and `expires_at`; JSON lines with the same; or an address on each line",
);

/** The service has no dry run: what was read is shown. */
async function check(given: Row, { accounts }: References, visit: Visit): Promise<Checked> {
  const text = await readText(given);
  const read = readEntries(text);
  if ("problem" in read) throw fileProblem(read.problem);
  const { entries, ignored } = read;
  const account_id = String(given.account_id);
  const named = await nameAccounts(visit.client, accounts, [{ account_id }]);
  const count = entries.length.toLocaleString("en");
  return {
    preview: [
      facts([
        ["Entries", count],
        ["For", nameIn(named, account_id)],
        ["Columns not read", ignored.join(", ")],
      ]),
      entryTable(entries.slice(0, FIRST)),
      entries.length > FIRST && h("p", { class: "hint" }, `The first ${FIRST} of ${count}`),
    ],
    verb: `Import ${counted(entries.length, "entry", "entries")}`,
    async run(tell) {
      const report = await importAll({ account_id, entries, tell }, visit);
      return [reportFacts(report, account_id), refusedRows(report.refused, text)];
    },
  };
}

const FIRST = 5;

function entryTable(entries: readonly FileEntry[]): HTMLElement {
  const names = ["email", "reason", "source", "expires_at"];
  const given = names.filter((name) => name === "email" || entries.some(({ fields }) => fields[name]));
  const columns = given.map((name) => ({
    head: labelOf(name),
    kind: "text" as const,
    of: ({ fields }: FileEntry) => fields[name],
  }));
  return table<FileEntry>("The first entries", columns, entries);
}

interface Work {
  readonly account_id: string;
  readonly entries: readonly FileEntry[];
  readonly tell: Tell;
}

async function importAll({ account_id, entries, tell }: Work, { client, left }: Visit): Promise<Report> {
  let report: Report = { added: 0, kept: 0, refused: [] };
  let done = 0;
  for (const chunk of chunksOf(entries)) {
    if (left.aborted) break;
    const body = { account_id, entries: chunk.map(({ fields }) => fields) };
    const part = await client.send<Part>("POST", "suppressions/import", body);
    report = added(report, part, chunk);
    done += chunk.length;
    tell(done, entries.length);
  }
  return report;
}

function added(sum: Report, part: Part, chunk: readonly FileEntry[]): Report {
  const refused = part.refused.map(({ index, reason }) => ({ line: chunk[index]?.line ?? 0, reason }));
  return {
    added: sum.added + part.added,
    kept: sum.kept + part.kept,
    refused: [...sum.refused, ...refused],
  };
}

function reportFacts({ added, kept, refused }: Report, account_id: string): Child {
  const count = (value: number) => value.toLocaleString("en");
  return [
    facts([
      ["Added", count(added)],
      ["There already", count(kept)],
      ["Refused", count(refused.length)],
    ]),
    h("p", { class: "links" }, link(["suppressions"], "To the suppressions", { account_id })),
  ];
}
