import type { Page } from "../client.ts";
import { deedButton } from "../dom/buttons.ts";
import { counted } from "../dom/counted.ts";
import { h, refresh } from "../dom/dom.ts";
import { badge, facts, id, json, link, none, section, time } from "../dom/pieces.ts";
import { keepUpdated } from "../dom/updated.ts";
import { labelOf } from "../forms/fields.ts";
import { filterForm, pager, readFiltered, searchFilter } from "../forms/filters.ts";
import { toHash, toQueryString } from "../place.ts";
import type { ShowPage, View, Visit } from "../visit.ts";
import { showEditConnector, showNewConnector } from "./connector-form.ts";
import { type Connector, reasonOf, stateOf } from "./connector-state.ts";
import { connectorTable } from "./connector-table.ts";

const ROWS_ON_A_PAGE = "100";

/** `#/connectors`, `#/connectors/new`, `#/connectors/ID`, `#/connectors/ID/edit`. */
export const showConnectors: ShowPage = (visit) => {
  const [, which, verb] = visit.place.path;
  if (which === undefined) return showList(visit);
  if (which === "new") return showNewConnector(visit);
  return verb === "edit" ? showEditConnector(visit) : showConnector(visit);
};

async function showList(visit: Visit): Promise<View> {
  const { client, place } = visit;
  const { search, after } = place.query;
  const content = h("div");
  const read = async () => {
    const query = { search, after, limit: ROWS_ON_A_PAGE };
    const { data, next, problem, said } = await readFiltered(
      client.get<Page<Connector>>("connectors", query),
    );
    refresh(
      content,
      problem ?? (data.length > 0 ? connectorTable(data) : none(search ? NO_SUCH_ONE : NONE_YET)),
      pager(place, "after", next),
    );
    return said;
  };
  const said = await read();
  const create = h("a", { class: "button primary", href: "#/connectors/new" }, "New connector");
  return {
    title: "Connectors",
    actions: [keepUpdated(visit, read), create],
    content: [filterForm(place, [searchFilter("name")]), content],
    said,
  };
}

const NO_SUCH_ONE = "There is no connector like this.";
const NONE_YET = "There are no connectors: only sandbox accounts can send. Create one for your provider.";

async function showConnector(visit: Visit): Promise<View> {
  const { client, place } = visit;
  const path = `connectors/${encodeURIComponent(place.path[1] ?? "")}`;
  const connector = await client.get<Connector>(path);
  const state = h("div", {}, stateFacts(connector));
  const read = async () => refresh(state, stateFacts(await client.get<Connector>(path)));
  const result = h("div", { "aria-live": "polite" });
  return {
    title: connector.name,
    actions: [keepUpdated(visit, read), actionsOf(connector, path, { visit, result })],
    content: [result, state, section("Configuration", configFacts(connector))],
  };
}

interface Surroundings {
  readonly visit: Visit;
  /** Where a test tells what has come of it. */
  readonly result: HTMLElement;
}

function actionsOf(connector: Connector, path: string, { visit, result }: Surroundings) {
  const { client, notify, reload, leaveFor } = visit;
  const { name, is_enabled: isEnabled } = connector;
  const domain = connector.kind === "mx" ? domainInput() : undefined;
  const test = async () => {
    refresh(result);
    const query = toQueryString({ domain: domain?.value.trim() });
    const { ok, detail } = await client.send<{ ok: boolean; detail: string }>("POST", `${path}/test${query}`);
    refresh(
      result,
      h(
        "p",
        { class: ok ? "result good" : "result bad" },
        ok ? `The test went well: ${detail}` : `The test failed: ${detail}`,
      ),
    );
  };
  const toggle = async () => {
    await client.send("PATCH", path, { is_enabled: !isEnabled });
    notify(`${name}: ${isEnabled ? "disabled" : "enabled"}`);
    reload();
  };
  const remove = async () => {
    await client.send("DELETE", path);
    leaveFor("#/connectors");
    notify(`${name}: deleted`);
  };
  const testButton = deedButton({ text: "Test", kind: "primary", work: test }, visit);
  return [
    domain ? submitting(testButton, domain) : testButton,
    deedButton({ text: isEnabled ? "Disable" : "Enable", work: toggle }, visit),
    h("a", { class: "button", href: toHash(["connectors", connector.id, "edit"]) }, "Edit"),
    deedButton(
      { text: "Delete", kind: "danger", question: `Delete the connector “${name}”?`, work: remove },
      visit,
    ),
  ];
}

/** Recipients' own mail hosts are as many as their domains: one of them is tested. */
function domainInput(): HTMLInputElement {
  return h("input", {
    id: "test-domain",
    placeholder: "gmail.com",
    "aria-label": "Domain whose mail hosts are tested",
    title: "Domain whose mail hosts are tested",
    autocomplete: "off",
    spellcheck: "false",
  });
}

/** Enter in the input does what the button does. */
function submitting(button: HTMLElement, input: HTMLInputElement): HTMLElement {
  const onsubmit = (event: Event) => {
    event.preventDefault();
    button.click();
  };
  return h("form", { class: "inline", onsubmit }, input, button);
}

function stateFacts(connector: Connector): HTMLElement {
  const { status } = connector;
  const { binds, rate, health } = status;
  return facts([
    ["State", badge(stateOf(connector))],
    ["Since", time(status.since)],
    ["Reason", reasonOf(connector)],
    ["Alarm", status.alarm?.replaceAll("_", " ")],
    ["Binds", binds && `${binds.up} of ${binds.of} up`],
    [
      "Rate",
      rate &&
        `${counted(rate.per_second, "segment")} per second${rate.is_reduced ? ", reduced for now" : ""}`,
    ],
    [
      "Health",
      health && [`${Math.round(health.score * 100)} %`, ...health.problems].join(", ").replaceAll("_", " "),
    ],
    ["Kind", connector.kind],
    ["Channel", connector.channel],
    ["Id", id(connector.id)],
    ["Receipts", link(["receipts"], "Those that match no message", { connector_id: connector.id })],
    ["Callback URL", connector.callback_url ?? connector.callback_path],
    ["Created", time(connector.created_at)],
  ]);
}

/** What is set or has its default; of a secret only that it is there. */
function configFacts({ config, secrets }: Connector): HTMLElement {
  const shown = Object.entries(config).map(
    ([name, value]) => [labelOf(name), typeof value === "object" ? json(value) : String(value)] as const,
  );
  const hidden = Object.keys(secrets).map(
    (name) => [labelOf(name), h("span", { class: "hint" }, "set, not shown")] as const,
  );
  return facts([...hidden, ...shown]);
}
