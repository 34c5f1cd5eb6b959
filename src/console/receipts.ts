import type { Page } from "./client.ts";
import { type Child, h } from "./dom/dom.ts";
import { badge, type Column, facts, link, none, prose, section, table, time } from "./dom/pieces.ts";
import type { Choice, FindChoices } from "./forms/choices.ts";
import { type Filter, filterForm, pager, readFiltered } from "./forms/filters.ts";
import { findBeyond } from "./records/find-beyond.ts";
import { type Named, nameIn } from "./records/named.ts";
import { nameConnectors, readConnectors } from "./records/references.ts";
import type { ShowPage } from "./visit.ts";

interface Parked {
  readonly connector_id: string;
  readonly received_at: string;
  readonly provider_message_id: string;
  readonly other_id?: string;
  readonly recipient?: string;
  readonly reference?: number;
  readonly status: string;
  readonly error?: { readonly code: string; readonly message: string };
  readonly raw?: string;
}

const ROWS_ON_A_PAGE = "50";

/** `#/receipts`: those that match no message, the newest first. The others are on the timelines of their messages. */
export const showReceipts: ShowPage = async ({ client, place }) => {
  const { connector_id, after } = place.query;
  const page = { order: "newest", limit: ROWS_ON_A_PAGE, after };
  const [first, { data, next, problem, said }] = await Promise.all([
    readConnectors(client),
    readFiltered(client.get<Page<Parked>>("receipts/parked", { connector_id, ...page })),
  ]);
  const named = data.map(({ connector_id: id }) => id);
  const connectors = await nameConnectors(client, first, [connector_id, ...named]);
  return {
    title: "Parked receipts",
    content: [
      filterForm(place, [
        connectorFilter(connectors, connector_id, findBeyond(client, connectors, CONNECTORS)),
      ]),
      problem ?? (data.length > 0 ? receiptTable(data, connectors) : none(noneParked(connector_id))),
      pager(place, "after", next),
      data.length > 0 && section("Why they match no message", causes(connector_id)),
    ],
    said,
  };
};

const toChoice = ({ id, name }: Named): Choice => [id, name];

const CONNECTORS = { path: "connectors", toChoice };

/** One that is no longer there is called by its id. */
function connectorFilter(
  connectors: readonly Named[],
  chosen: string | undefined,
  find: FindChoices | undefined,
): Filter {
  const isListed = !chosen || connectors.some(({ id }) => id === chosen);
  const offered = isListed ? connectors : [{ id: chosen, name: chosen }, ...connectors];
  return {
    name: "connector_id",
    label: "Connector",
    choices: [["", "all"], ...offered.map(toChoice)],
    ...(find && { find }),
  };
}

function noneParked(connectorId: string | undefined): string {
  return connectorId
    ? "No receipts of this connector are parked."
    : "No receipts are parked: each of the last 7 days belongs to a message.";
}

function receiptTable(receipts: readonly Parked[], connectors: readonly Named[]): HTMLElement {
  const columns: readonly Column<Parked>[] = [
    { head: "Received", of: ({ received_at: at }) => time(at) },
    {
      head: "Connector",
      kind: "text",
      of: ({ connector_id: id }) => link(["connectors", id], nameIn(connectors, id)),
    },
    { head: "Provider's id", of: ({ provider_message_id: id, other_id: other }) => idsOf([id, other]) },
    { head: "Recipient", of: ({ recipient }) => recipient },
    { head: "Says", of: ({ status }) => badge(status) },
    { head: "As received", kind: "whole", of: asReceived },
  ];
  return table<Parked>("Parked receipts", columns, receipts);
}

function idsOf(ids: readonly (string | undefined)[]): Child {
  return ids.flatMap((id) => (id === undefined ? [] : [h("div", {}, h("code", {}, id))]));
}

function asReceived({ raw, error, reference }: Parked): Child {
  if (raw !== undefined) return h("code", {}, raw);
  const said = [error && `${error.message} (${error.code})`, reference && `reference ${reference}`];
  return said.filter(Boolean).join(", ");
}

/** The advice of docs/monitoring.md. There is nothing to do with a receipt, but with its connector. */
function causes(connectorId: string | undefined): Child {
  const edit = connectorId !== undefined && [
    " ",
    link(["connectors", connectorId, "edit"], "Edit the connector"),
  ];
  return [
    none(
      "A receipt that came before the answer that it belongs to is parked for seconds, and then applied. Look into those that are older than a minute. " +
        "They are applied once their message is found, and deleted after 7 days.",
    ),
    facts([
      [
        "Your ids, in another base or length",
        [prose("`id_format` of the connector does not fit what the provider sends."), edit],
      ],
      [
        "Ids of messages sent over another connector",
        prose("This one receives for it: name its id in `receipts_with`."),
      ],
      [
        "Ids of messages that were unconfirmed",
        prose("The answer was lost: set `user_message_reference`, if the provider repeats it in receipts."),
      ],
      [
        "Ids that are not yours",
        "Somebody else sends over the same account of the provider, or the messages are older than this database.",
      ],
    ]),
  ];
}
