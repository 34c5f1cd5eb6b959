import type { Page } from "./client.ts";
import { type Child, h } from "./dom/dom.ts";
import { facts, id, link, none, time } from "./dom/pieces.ts";
import type { FindChoices } from "./forms/choices.ts";
import { type Filter, filterForm, pager, readFiltered } from "./forms/filters.ts";
import { showReceive } from "./inbound-form.ts";
import {
  type Account,
  accountFilter,
  chosenAccount,
  findAccounts,
  readAccounts,
} from "./records/accounts.ts";
import type { Named } from "./records/named.ts";
import { nameConnectors, readConnectors } from "./records/references.ts";
import type { ShowPage, View, Visit } from "./visit.ts";

interface Inbound {
  readonly message_id: string;
  readonly account_id?: string;
  readonly connector_id: string;
  readonly from: string;
  readonly to: string;
  readonly text: string;
  readonly segments: number;
  readonly encoding: string;
  readonly keyword?: string;
  readonly partial?: boolean;
  readonly received_at: string;
}

const ROWS_ON_A_PAGE = "50";

/** In the place of an account: messages to numbers that belong to none. */
const NO_ACCOUNT = "none";

/** `#/inbound`, `#/inbound/new`. */
export const showInbound: ShowPage = (visit) =>
  visit.place.path.length > 1 ? showReceive(visit) : showList(visit);

/** What handsets wrote to an account, the newest first. */
async function showList({ client, place }: Visit): Promise<View> {
  const accounts = await readAccounts(client, place);
  const account = place.query.account_id === NO_ACCOUNT ? undefined : chosenAccount(accounts, place);
  const { from, to, after, before, cursor } = place.query;
  const query = { account_id: account?.id, from, to, after, before, cursor, limit: ROWS_ON_A_PAGE };
  const [connectors, { data, next, problem, said }] = await Promise.all([
    readConnectors(client),
    readFiltered(client.get<Page<Inbound>>("inbound-messages", query)),
  ]);
  return {
    title: "Inbound SMS",
    actions: account?.mode === "sandbox" && receiveLink(account, "button primary"),
    content: [
      filterForm(place, [accountOrNone(accounts, account, findAccounts(client, accounts)), ...FILTERS]),
      problem ??
        (data.length > 0
          ? cardsOf(data, await nameConnectors(client, connectors, idsOf(data)))
          : nothingReceived(account)),
      pager(place, "cursor", next),
    ],
    said,
  };
}

function idsOf(messages: readonly Inbound[]): readonly string[] {
  return messages.map(({ connector_id: id }) => id);
}

function accountOrNone(
  accounts: readonly Account[],
  account: Account | undefined,
  find: FindChoices | undefined,
): Filter {
  const filter = accountFilter(accounts, account, find);
  return { ...filter, last: [NO_ACCOUNT, "numbers of no account"], otherwise: account?.id ?? NO_ACCOUNT };
}

const FILTERS: readonly Filter[] = [
  { name: "from", label: "From" },
  { name: "to", label: "To" },
  { name: "after", label: "Received after", isTime: true },
  { name: "before", label: "Received before", isTime: true },
];

function receiveLink({ id: account_id }: Account, kind?: string): HTMLElement {
  const simulate = link(["inbound", "new"], "Simulate one", { account_id });
  if (kind !== undefined) simulate.className = kind;
  return simulate;
}

function nothingReceived(account: Account | undefined): HTMLElement {
  if (!account) return none("Nothing like this was received for numbers of no account in the last 7 days.");
  if (account.mode === "sandbox")
    return none([
      "Nothing like this was received in the last 7 days. No handset reaches a sandbox account: ",
      receiveLink(account),
      ".",
    ]);
  return none([
    "Nothing like this was received in the last 7 days. An account receives what is sent to its ",
    link(["inbound-numbers"], "inbound numbers", { account_id: account.id }),
    ".",
  ]);
}

/** A text may be long: a line of it each, and all of one that is opened. */
function cardsOf(messages: readonly Inbound[], connectors: readonly Named[]): HTMLElement {
  return h(
    "div",
    { class: "given" },
    messages.map((message) => cardOf(message, connectors)),
  );
}

function cardOf(message: Inbound, connectors: readonly Named[]): HTMLElement {
  const { received_at: at, from, to, text, keyword } = message;
  return h(
    "details",
    {},
    h(
      "summary",
      {},
      h("span", { class: "hint" }, time(at)),
      h("span", {}, `${from} to ${to}`),
      h("span", { class: "excerpt" }, text),
      keyword && h("span", { class: "hint" }, `means ${keyword}`),
    ),
    factsOf(message, connectors),
  );
}

function factsOf(message: Inbound, connectors: readonly Named[]): HTMLElement {
  const { account_id, from, message_id } = message;
  return facts([
    ["Text", h("pre", {}, message.text)],
    ["Parts", message.partial && "Some are missing: each gap is shown as …"],
    ["Segments", `${message.segments} in ${message.encoding}`],
    ["Received", time(message.received_at)],
    ["From", from],
    ["To", message.to],
    ["Over", connectorOf(message.connector_id, connectors)],
    ["Keyword", message.keyword],
    ["Opt-outs", account_id && link(["opt-outs"], "Of this sender", { account_id, recipient: from })],
    ["Messages", account_id && link(["messages"], "To this sender", { account_id, to: from })],
    ["Webhooks", account_id && link(["webhooks"], "Events of this message", { message_id })],
    ["Id", id(message_id)],
  ]);
}

function connectorOf(connectorId: string, connectors: readonly Named[]): Child {
  const known = connectors.find((each) => each.id === connectorId);
  if (known) return link(["connectors", connectorId], known.name);
  return connectorId === "sandbox" ? h("span", { class: "hint" }, "simulated") : connectorId;
}
