/** Imports what a DLT portal exports: templates, headers, entities. */
import type { Client } from "../client.ts";
import { type Child, h } from "../dom/dom.ts";
import { facts, link } from "../dom/pieces.ts";
import { type Field, fieldsOf, type Row } from "../forms/fields.ts";
import { toHash } from "../place.ts";
import { readReferences, withChoices } from "../records/references.ts";
import type { View, Visit } from "../visit.ts";
import { type Checked, fileField, fileProblem, importView, readText } from "./import-page.ts";
import type { Tell } from "./progress.ts";
import { type RefusedRow, refusedRows } from "./refused-rows.ts";

interface Report {
  readonly kind: string;
  readonly rows: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly merged: number;
  readonly refused: readonly RefusedRow[];
  readonly ignored_columns: readonly string[];
}

/** One answer of several; `next`: the `after` of the next request. */
interface Part extends Report {
  readonly done: number;
  readonly total: number;
  readonly next?: number;
}

const PAGES: Readonly<Record<string, string>> = {
  templates: "sms-templates",
  headers: "senders",
  entities: "dlt-entities",
};

/** A request may have so many octets, and each of the import has the whole file. */
const MOST_OCTETS = 8 * 1024 * 1024;

/** `#/sms-templates/import?account_id=ID`, and the same for senders and entities. */
export async function showDltImport(visit: Visit): Promise<View> {
  const { client, place, schemas } = visit;
  const [known, schema] = await Promise.all([readReferences(client), schemas("post", "dlt/import")]);
  const ofForm = (field: Field) => OWN[field.name]?.(field) ?? withChoices(field, known);
  const plan = {
    title: "Import from a DLT portal",
    fields: fieldsOf(schema)
      .filter(({ name }) => ASKED.includes(name))
      .map(ofForm),
    values: place.query,
    back: toHash([place.path[0] ?? ""], place.query),
    check: (given: Row, tell: Tell) => check(given, tell, visit),
  };
  return importView(plan, visit);
}

const ASKED = ["account_id", "csv", "kind"];

const OWN: Readonly<Record<string, (field: Field) => Field>> = {
  csv: () => fileField("The CSV that the portal exports. Its columns are found by their names"),
  kind: ({ hint: _, ...field }) => ({ ...field, otherwise: "the columns tell" }),
};

async function check(given: Row, tell: Tell, { client, left }: Visit): Promise<Checked> {
  const csv = await readText(given);
  if (csv === "") throw fileProblem("is empty");
  const body = { account_id: given.account_id, kind: given.kind, csv };
  if (new Blob([JSON.stringify(body)]).size > MOST_OCTETS - 100)
    throw fileProblem("has more than 8 MiB: split it, or import it on the command line");
  const found = await importAll({ client, left, tell }, { ...body, dry_run: true });
  const changes = found.created + found.updated;
  return {
    preview: reportFacts(found, DRY),
    refused: refusedRows(found.refused, csv),
    ...(changes > 0 && { verb: "Import" }),
    async run(tell) {
      const done = await importAll({ client, left, tell }, body);
      return [
        reportFacts(done, DONE),
        listLink(done, String(given.account_id)),
        refusedRows(done.refused, csv),
      ];
    },
  };
}

interface Work {
  readonly client: Client;
  readonly left: AbortSignal;
  readonly tell: Tell;
}

async function importAll({ client, left, tell }: Work, body: object): Promise<Report> {
  let sum: Report | undefined;
  let after: number | undefined = 0;
  do {
    const { done, total, next, ...part }: Part = await client.send("POST", "dlt/import", { ...body, after });
    sum = sum ? added(sum, part) : part;
    if (total > 0) tell(done, total);
    after = next;
  } while (after !== undefined && !left.aborted);
  return sum;
}

const COUNTS = ["created", "updated", "unchanged", "merged"] as const;

/** Both together, of the same file. */
function added(sum: Report, part: Report): Report {
  const counts = Object.fromEntries(COUNTS.map((name) => [name, sum[name] + part[name]]));
  const refused = [...sum.refused, ...part.refused].toSorted((one, other) => one.line - other.line);
  return { ...sum, ...counts, refused };
}

const DRY = { created: "To be created", updated: "To be updated" };
const DONE = { created: "Created", updated: "Updated" };

function reportFacts(report: Report, words: typeof DRY): Child {
  const count = (value: number) => value.toLocaleString("en");
  return facts([
    ["Rows", `${count(report.rows)} of ${report.kind}`],
    [words.created, count(report.created)],
    [words.updated, count(report.updated)],
    ["Unchanged", count(report.unchanged)],
    ["Repeated rows", report.merged > 0 && count(report.merged)],
    ["Refused", count(report.refused.length)],
    ["Columns not read", report.ignored_columns.join(", ")],
  ]);
}

function listLink({ kind }: Report, account_id: string): Child {
  return h("p", { class: "links" }, link([PAGES[kind] ?? ""], `To the ${kind}`, { account_id }));
}
