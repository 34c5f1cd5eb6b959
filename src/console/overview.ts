import { type Client, type Page, readAll } from "./client.ts";
import type { Connector } from "./connectors/connector-state.ts";
import { connectorTable } from "./connectors/connector-table.ts";
import { type Child, h, refresh } from "./dom/dom.ts";
import { ago, isolated, link, none, section, table } from "./dom/pieces.ts";
import { keepUpdated } from "./dom/updated.ts";
import { filterForm } from "./forms/filters.ts";
import { type Message, newestOf, readMessages } from "./messages/message.ts";
import { messageTable } from "./messages/message-table.ts";
import { createTemplateNames, type TemplateNames } from "./messages/template-names.ts";
import {
  type Account,
  accountFilter,
  chosenAccount,
  findAccounts,
  nameAccounts,
  readAccounts,
} from "./records/accounts.ts";
import { connectorsText, type Route, routeText } from "./records/route-text.ts";
import type { ShowPage } from "./visit.ts";
import { type PausedHost, pausedHostTable } from "./webhooks/webhooks.ts";

const MOST_ROWS = 1_000;
/** More would push all else out of sight. */
const MOST_CONNECTORS = 20;
const NEWEST = 10;

/** Whether messages get through, at a glance. It reads itself again, and says when it last could. */
export const showOverview: ShowPage = async (visit) => {
  const { client, place } = visit;
  const accounts = await readAccounts(client, place);
  const account = chosenAccount(accounts, place);
  let named = accounts;
  const state = h("div");
  const newest = h("div");
  const templateNames = createTemplateNames(client);
  const read = async () => {
    const [seen, messages] = await Promise.all([
      readState(client),
      account ? readNewest(client, account) : [],
    ]);
    named = await nameAccounts(client, named, seen.hosts);
    refresh(state, ...sectionsOf(seen, named));
    refresh(newest, newestTable(messages, await templateNames(messages)));
  };
  await read();
  const choice =
    accounts.length > 1 &&
    filterForm(place, [accountFilter(accounts, account, findAccounts(client, accounts))]);
  return {
    title: "Overview",
    actions: keepUpdated(visit, read),
    content: [state, section("Newest messages", choice, newest)],
  };
};

interface Alarm {
  readonly name: string;
  readonly subject: string;
  readonly subject_name?: string;
  readonly reason: string;
  readonly since: string;
}

interface Queue {
  /** Id of the route; or a name, if it is the simulator's. */
  readonly queue: string;
  readonly ready: number;
  /** Only so many are counted. */
  readonly has_more: boolean;
  readonly oldest_ready_at?: string;
}

interface Alarms {
  readonly data: readonly Alarm[];
  /** False if the process that answers does not deliver. */
  readonly is_watching?: boolean;
  /** The process that answers, if there may be others. */
  readonly process?: string;
}

interface State {
  readonly alarms: Alarms;
  readonly connectors: readonly Connector[];
  readonly routes: readonly Route[];
  readonly queues: readonly Queue[];
  readonly hosts: readonly PausedHost[];
}

async function readState(client: Client): Promise<State> {
  const list = async <Row>(path: string) => (await client.get<Page<Row>>(path)).data;
  const [alarms, connectors, routes, queues, hosts] = await Promise.all([
    client.get<Alarms>("alarms"),
    readAll<Connector>(client, "connectors", { atMost: MOST_ROWS }),
    readAll<Route>(client, "routes", { atMost: MOST_ROWS }),
    list<Queue>("queues"),
    list<PausedHost>("webhooks/hosts"),
  ]);
  return { alarms, connectors, routes, queues, hosts };
}

async function readNewest(client: Client, { id }: Account): Promise<readonly Message[]> {
  const channels = ["sms", "email"].map((channel) =>
    readMessages(client, { account_id: id, channel, limit: String(NEWEST) }),
  );
  return newestOf(
    (await Promise.all(channels)).map(({ data }) => data),
    NEWEST,
  );
}

function sectionsOf(state: State, accounts: readonly Account[]): readonly Child[] {
  return [
    section("Alarms", alarmsOf(state)),
    section("Connectors", connectorsOf(state.connectors)),
    section("Queues", queuesOf(state)),
    state.hosts.length > 0 && section("Paused webhook hosts", pausedHostTable(state.hosts, accounts)),
  ];
}

const NOT_WATCHING =
  "The process that answers does not deliver, and so watches for no alarms: those that deliver tell of theirs in their logs, in /metrics and to the alarm webhook.";

function alarmsOf(state: State): Child {
  const { data: alarms, is_watching: isWatching = true, process } = state.alarms;
  if (!isWatching) return none(NOT_WATCHING);
  if (alarms.length === 0)
    return none(process === undefined ? "No alarms." : `No alarms in ${process}. ${OTHERS}`);
  const whose = process !== undefined && h("p", { class: "hint" }, `Of ${process}. ${OTHERS}`);
  return [alarmList(alarms, state), whose];
}

const OTHERS =
  "This is the process that answers: any other that delivers has alarms of its own, in its log, in /metrics and told to the alarm webhook.";

function alarmList(alarms: readonly Alarm[], state: State): readonly Child[] {
  return alarms.map(({ name, subject, subject_name: called, reason, since }) =>
    h(
      "p",
      { class: "alarm" },
      h("strong", {}, name.replaceAll("_", " ")),
      " ",
      called === undefined ? queueName(subject, state) : isolated(called),
      ": ",
      isolated(reason),
      " ",
      h("span", { class: "hint" }, ago(since)),
    ),
  );
}

/** The queue of a route, or of a connector, has its id. Others, the simulator's, have names. */
function queueName(queue: string, { routes, connectors }: State): Child {
  const route = routes.find(({ id }) => id === queue);
  if (route) return link(["routes", queue], routeText(route));
  const connector = connectors.find(({ id }) => id === queue);
  return connector ? link(["connectors", queue], ["Only over ", isolated(connector.name)]) : queue;
}

function connectorsOf(connectors: readonly Connector[]): Child {
  if (connectors.length > MOST_CONNECTORS) {
    const all = link(["connectors"], `All ${countText(connectors.length)} connectors`);
    return [
      connectorTable(troubledFirst(connectors).slice(0, MOST_CONNECTORS)),
      h("p", { class: "links" }, all),
    ];
  }
  if (connectors.length > 0) return connectorTable(connectors);
  return none([
    "There are no connectors: only sandbox accounts can send. ",
    link(["connectors", "new"], "Create a connector"),
  ]);
}

/** No more than `MOST_ROWS` are read. */
function countText(read: number): string {
  return read < MOST_ROWS ? read.toLocaleString("en") : `${MOST_ROWS.toLocaleString("en")} or more`;
}

/** First those that should work and do not, last those that should not. */
function troubledFirst(connectors: readonly Connector[]): readonly Connector[] {
  const rank = ({ is_enabled: isEnabled, status }: Connector) =>
    isEnabled ? Number(status.state === "up") : 2;
  return connectors.toSorted((one, other) => rank(one) - rank(other));
}

function queuesOf(state: State): Child {
  const { queues, routes, connectors } = state;
  const waiting = queues.filter(({ ready }) => ready > 0);
  if (waiting.length === 0) return none("No messages are waiting in line.");
  const connectorsOfRoute = (queue: string) => {
    const route = routes.find(({ id }) => id === queue);
    return route && connectorsText(route, connectors);
  };
  return table(
    "Queues",
    [
      { head: "Route", of: ({ queue }) => queueName(queue, state) },
      { head: "Connectors", of: ({ queue }) => connectorsOfRoute(queue) },
      { head: "In line", kind: "number", of: readyText },
      { head: "Oldest", of: ({ oldest_ready_at: at }) => ago(at) },
    ],
    waiting,
  );
}

function readyText({ ready, has_more: hasMore }: Queue): string {
  return `${ready.toLocaleString("en")}${hasMore ? "+" : ""}`;
}

function newestTable(messages: readonly Message[], names: TemplateNames): Child {
  return messages.length === 0
    ? none([
        "This account has sent nothing in the last 7 days. The ",
        h("a", { href: "/docs" }, "API documentation"),
        " says how to send.",
      ])
    : messageTable(messages, names);
}
