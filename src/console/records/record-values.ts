/** The values of records, as nodes. */
import { type Child, h } from "../dom/dom.ts";
import { badge, type Column, called, facts, id, json, link, table, time } from "../dom/pieces.ts";
import { labelOf, type Row } from "../forms/fields.ts";
import { nameIn } from "./named.ts";
import { type Noun, nameOf } from "./nouns.ts";
import { type References, referred } from "./references.ts";
import { connectorsText, type Route } from "./route-text.ts";

/** A value by what its field is called, as everywhere in the API. */
function valueNode(name: string, record: Row, known: References): Child {
  const value = record[name];
  if (value === undefined || value === null) return absentNode(name, record);
  const found = referred(name, known);
  if (found) return link([found.page, String(value)], nameIn(found.rows, String(value)));
  if (name === "connectors") return connectorsText(record as unknown as Route, known.connectors);
  if (name === "state" || name === "status") return badge(String(value));
  if (name.endsWith("_at") || name === "failing_since") return time(String(value));
  if (name === "id") return id(String(value));
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(", ");
  return typeof value === "object" ? json(value) : String(value);
}

/** A list of any noun: the first column leads to the record. */
export function recordTable(noun: Noun, records: readonly Row[], known: References): HTMLElement {
  const columns = noun.columns.map((name, index) => ({
    head: headOf(name),
    ...kindOf(name, index),
    of: (record: Row) =>
      index === 0
        ? link([noun.name, String(record.id)], called(nameOf(noun, record)))
        : valueNode(name, record, known),
  }));
  return table(noun.title, columns, records);
}

/** What may be long breaks lines, so that it moves no other column out of sight. */
function kindOf(name: string, index: number): Pick<Column<Row>, "kind"> {
  if (name === "body") return { kind: "wide" };
  return index === 0 || LONG.includes(name) || isReference(name) ? { kind: "text" } : {};
}

const LONG = ["name", "connectors"];

/** All fields of a record, but those that are shown elsewhere or twice. */
export function recordFacts(record: Row, known: References, shownElsewhere: readonly string[]): HTMLElement {
  const names = Object.keys(record).filter(
    (name) => !shownElsewhere.includes(name) && record[name] !== record.id,
  );
  return facts([
    ["Id", valueNode("id", record, known)],
    ...names.map((name) => [headOf(name), valueNode(name, record, known)] as const),
  ]);
}

/** Head of the column, or name of the fact: an account is shown by its name, not its id. */
function headOf(name: string): string {
  return labelOf(isReference(name) ? name.replace(/_id$/, "") : name);
}

function isReference(name: string): boolean {
  return name === "account_id" || name === "connector_id";
}

/** Where absence says something. */
function absentNode(name: string, record: Row): Child {
  if (name === "account_id") return "every live account";
  if (record.erased === true && (name === "email" || name === "recipient"))
    return h("span", { class: "hint" }, "erased");
  return undefined;
}
