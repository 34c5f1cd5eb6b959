/** The list of any noun, and its forms. */
import type { Page } from "../client.ts";
import { showOnce } from "../dom/dialogs.ts";
import { h } from "../dom/dom.ts";
import { none } from "../dom/pieces.ts";
import { type Field, fieldsOf, labelOf, type Row } from "../forms/fields.ts";
import { type Filter, filterForm, pager, readFiltered, searchFilter } from "../forms/filters.ts";
import { recordForm } from "../forms/form.ts";
import { watchOthers } from "../forms/overtaken.ts";
import { showDltImport } from "../imports/dlt-import.ts";
import { showSuppressionImport } from "../imports/suppression-import.ts";
import { type Place, toHash } from "../place.ts";
import type { ShowPage, Visit } from "../visit.ts";
import { accountFilter, accountOf } from "./accounts.ts";
import { type Noun, nameOf } from "./nouns.ts";
import { showRecord } from "./record-page.ts";
import { recordTable } from "./record-values.ts";
import { nameAll, type References, readReferences, withChoices } from "./references.ts";
import { connectorsText, type Route } from "./route-text.ts";

const ROWS_ON_A_PAGE = "50";

const IMPORTS = { dlt: showDltImport, suppressions: showSuppressionImport };

/** `#/senders`, `#/senders/new`, `#/senders/import`, `#/senders/ID`, `#/senders/ID/edit`. */
export function recordPages(noun: Noun): ShowPage {
  return (visit) => {
    const [, which, verb] = visit.place.path;
    if (which === undefined) return showRecords(noun, visit);
    if (which === "new") return showNew(noun, visit);
    if (which === "import" && noun.file) return IMPORTS[noun.file](visit);
    return verb === "edit" ? showEdit(noun, visit) : showRecord(noun, visit);
  };
}

async function showRecords(noun: Noun, { client, place }: Visit) {
  const { name, title, one, calledBy, filters = [], isOfAccount, file } = noun;
  const [known, { data, next, problem, said }] = await Promise.all([
    readReferences(client, place),
    readFiltered(client.get<Page<Row>>(name, { ...place.query, limit: ROWS_ON_A_PAGE })),
  ]);
  const named = await nameAll(client, known, data);
  const fields: readonly Filter[] = [
    ...(isOfAccount ? [allAccounts(known, place)] : []),
    searchFilter(calledBy),
    ...filters.map((filter) => ({ name: filter, label: labelOf(filter) })),
  ];
  const { account_id } = place.query;
  return {
    title,
    actions: [
      file && h("a", { class: "button", href: toHash([name, "import"], { account_id }) }, "Import"),
      h("a", { class: "button primary", href: toHash([name, "new"], { account_id }) }, `New ${one}`),
    ],
    content: [
      filterForm(place, fields),
      problem ?? (data.length > 0 ? recordTable(noun, data, named) : nothingFound(noun, place)),
      pager(place, "after", next),
    ],
    said,
  };
}

function nothingFound({ one, about }: Noun, { query }: Place): HTMLElement {
  const isNarrowed = Object.values(query).some((value) => value !== "");
  return none(isNarrowed ? `There is no ${one} like this.` : `There is no ${one} yet. ${about}`);
}

function allAccounts({ accounts, findAccounts }: References, { query: { account_id: id } }: Place): Filter {
  const filter = accountFilter(accounts, id ? accountOf(accounts, id) : undefined, findAccounts);
  return { ...filter, choices: [["", "all"], ...(filter.choices ?? [])] };
}

async function showNew(noun: Noun, visit: Visit) {
  const { client, place, schemas, notify, leaveFor } = visit;
  const [known, schema] = await Promise.all([readReferences(client), schemas("post", noun.name)]);
  const form = recordForm({
    fields: shownFields(noun, fieldsOf(schema), known),
    values: place.query,
    submit: `Create ${noun.one}`,
    back: toHash([noun.name], place.query),
    async save(values) {
      const record = await client.send<Row>("POST", noun.name, values);
      leaveFor(toHash([noun.name, String(record.id)]));
      notify(`${nameOf(noun, record)}: created`);
      if (typeof record.api_key === "string") showOnce("The new API key", record.api_key);
    },
  });
  return { title: `New ${noun.one}`, content: form };
}

async function showEdit(noun: Noun, { client, place, schemas, notify, leaveFor }: Visit) {
  const path = `${noun.name}/${encodeURIComponent(place.path[1] ?? "")}`;
  const [known, record, schema] = await Promise.all([
    readReferences(client),
    client.get<Row>(path),
    schemas("patch", `${noun.name}/{id}`),
  ]);
  const back = toHash([noun.name, String(record.id)]);
  const fields = shownFields(noun, fieldsOf(schema), known);
  const tellOfOthers = watchOthers({
    record,
    fields,
    inWords: (name, now) =>
      name === "connectors" ? connectorsText(now as unknown as Route, known.connectors) : undefined,
  });
  const form = recordForm({
    fields,
    values: record,
    submit: "Save",
    back,
    async save(_, changes) {
      tellOfOthers(await client.get<Row>(path), changes);
      const saved = await client.send<Row>("PATCH", path, changes);
      leaveFor(back);
      notify(`${nameOf(noun, saved)}: saved`);
    },
  });
  return { title: `Edit ${nameOf(noun, record)}`, content: form };
}

function shownFields({ hidden = [] }: Noun, fields: readonly Field[], known: References): readonly Field[] {
  return fields.filter(({ name }) => !hidden.includes(name)).map((field) => withChoices(field, known));
}
