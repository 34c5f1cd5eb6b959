import type { Page } from "../client.ts";
import { deedButton } from "../dom/buttons.ts";
import { counted } from "../dom/counted.ts";
import { type Child, h } from "../dom/dom.ts";
import { badge, link, none, section, table, time } from "../dom/pieces.ts";
import { WITHIN } from "../dom/times.ts";
import { type Filter, filterForm, pager, readFiltered } from "../forms/filters.ts";
import {
  type Account,
  accountFilter,
  chosenAccount,
  findAccounts,
  nameAccounts,
  readAccounts,
} from "../records/accounts.ts";
import { nameIn } from "../records/named.ts";
import type { ShowPage, View, Visit } from "../visit.ts";
import { resultText, showWebhook, type WebhookEvent } from "./webhook-page.ts";
import { showSecrets } from "./webhook-secrets.ts";

const STATES = ["failed", "waiting", "ready", "leased", "held", "delivered"];
const MINUTE_MS = 60_000;

/** In minutes, as in `WITHIN`. */
const A_WEEK = "10080";

/** `#/webhooks`, `#/webhooks/secrets`, `#/webhooks/EVENT`. */
export const showWebhooks: ShowPage = (visit) => {
  const [, which] = visit.place.path;
  if (which === undefined) return showEvents(visit);
  return which === "secrets" ? showSecrets(visit) : showWebhook(visit);
};

/** The events of an account, or of one message, and how far their delivery has come. */
async function showEvents(visit: Visit): Promise<View> {
  const { client, place } = visit;
  const accounts = await readAccounts(client, place);
  const account = chosenAccount(accounts, place);
  if (!account) return { title: "Webhooks", content: none("There are no accounts.") };
  const { message_id, host, state, after, within = A_WEEK } = place.query;
  const since = new Date(Date.now() - Number(within) * MINUTE_MS).toISOString();
  const of = message_id ? { message_id } : { account_id: account.id, host, state, since };
  const reading = client.get<Page<WebhookEvent>>("webhooks", { ...of, after, order: "newest", limit: "50" });
  const { data, next, problem, said } = await readFiltered(reading);
  const filters = message_id
    ? [{ name: "message_id", label: "Message id" }]
    : [accountFilter(accounts, account, findAccounts(client, accounts)), ...FILTERS];
  return {
    title: "Webhooks",
    actions: [
      host && !message_id && replayButtons(account, host, visit),
      link(["webhooks", "secrets"], "Secrets and test", { account_id: account.id }),
    ],
    content: [
      filterForm(place, filters),
      problem ??
        (data.length > 0
          ? eventTable(data)
          : none("No such events. Only messages with a callback URL have them.")),
      pager(place, "after", next),
      section("Paused hosts", await pausedHosts(visit, accounts)),
    ],
    said,
  };
}

const FILTERS: readonly Filter[] = [
  {
    name: "state",
    label: "State",
    choices: [["", "all"], ...STATES.map((state) => [state, state] as const)],
  },
  { name: "within", label: "Occurred", choices: WITHIN, otherwise: A_WEEK },
  { name: "host", label: "Host" },
];

function eventTable(events: readonly WebhookEvent[]): HTMLElement {
  return table<WebhookEvent>(
    "Events",
    [
      { head: "Occurred", of: ({ occurred_at: at }) => time(at) },
      { head: "Type", of: ({ id, type }) => link(["webhooks", id], type) },
      { head: "State", of: ({ state }) => badge(state) },
      { head: "Host", kind: "text", of: ({ host }) => host },
      { head: "Attempts", kind: "number", of: ({ attempts }) => attempts },
      { head: "Next attempt", of: ({ next_attempt_at: at }) => time(at) },
      { head: "Last result", kind: "wide", of: ({ last_attempt: last }) => last && resultText(last) },
      { head: "Message", of: ({ message_id }) => link(["messages", message_id], h("code", {}, message_id)) },
    ],
    events,
  );
}

/** What has failed, and what waits for its next try, which may be a day away though the receiver is well again. */
function replayButtons(account: Account, host: string, visit: Visit): readonly HTMLElement[] {
  const replayFailed = () => replayAll({ account_id: account.id, host, failed: true }, visit);
  const replayWaiting = () => replayAll({ account_id: account.id, host, waiting: true }, visit);
  const askOfWaiting = async () => {
    const found = await countWaiting(account, host, visit);
    if (found === undefined) visit.notify(`No events of ${host} wait for their next try`);
    return found && `Deliver now what waits for its next try at ${host}: ${found}?`;
  };
  return [
    deedButton(
      {
        text: "Replay failed",
        question: `Deliver all failed events of ${host} again?`,
        work: replayFailed,
      },
      visit,
    ),
    deedButton({ text: "Replay waiting", question: askOfWaiting, work: replayWaiting }, visit),
  ];
}

const MOST_COUNTED = 1_000;

/** `12 events`, `more than 1,000 events`; `undefined`: none. */
async function countWaiting(
  { id: account_id }: Account,
  host: string,
  { client }: Visit,
): Promise<string | undefined> {
  const asked = { account_id, host, state: "waiting", limit: String(MOST_COUNTED) };
  const { data, next } = await client.get<Page<WebhookEvent>>("webhooks", asked);
  if (data.length === 0) return undefined;
  return `${next === undefined ? "" : "more than "}${counted(data.length, "event")}`;
}

interface Replayed {
  readonly account_id: string;
  readonly host: string;
  readonly failed?: true;
  readonly waiting?: true;
}

/** A request replays a limited number; `next` says where the following one goes on. */
async function replayAll(wanted: Replayed, { client, notify, reload }: Visit): Promise<void> {
  let replayed = 0;
  let after: string | undefined;
  do {
    const body = { ...wanted, after };
    const answer = await client.send<{ replayed: number; next?: string }>("POST", "webhooks/replay", body);
    replayed += answer.replayed;
    after = answer.next;
  } while (after !== undefined);
  notify(`${counted(replayed, "event is", "events are")} queued for delivery again`);
  reload();
}

export interface PausedHost {
  readonly account_id: string;
  readonly host: string;
  readonly paused_until: string;
  readonly failures: number;
  readonly reason: string;
}

interface PausedHosts extends Page<PausedHost> {
  /** False if the process that answers has not the role `webhooks`. */
  readonly is_delivering?: boolean;
}

const NOT_DELIVERING =
  "The process that answers delivers no webhooks, and so pauses no host: those that do tell of theirs in /metrics.";

async function pausedHosts({ client }: Visit, accounts: readonly Account[]): Promise<Child> {
  const { data, is_delivering: isDelivering = true } = await client.get<PausedHosts>("webhooks/hosts");
  if (!isDelivering) return none(NOT_DELIVERING);
  if (data.length === 0) return none("No host is paused.");
  return pausedHostTable(data, await nameAccounts(client, accounts, data));
}

export function pausedHostTable(hosts: readonly PausedHost[], accounts: readonly Account[]): HTMLElement {
  return table<PausedHost>(
    "Paused hosts",
    [
      {
        head: "Host",
        kind: "text",
        of: ({ host, account_id }) => link(["webhooks"], host, { account_id, host }),
      },
      { head: "Account", kind: "text", of: ({ account_id }) => nameIn(accounts, account_id) },
      { head: "Paused until", of: ({ paused_until: at }) => time(at) },
      { head: "Failures", kind: "number", of: ({ failures }) => failures },
      { head: "Reason", kind: "wide", of: ({ reason }) => reason.replaceAll("_", " ") },
    ],
    hosts,
  );
}
