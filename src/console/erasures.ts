import type { Page } from "./client.ts";
import { counted } from "./dom/counted.ts";
import { type Child, h, refresh } from "./dom/dom.ts";
import { badge, type Column, facts, id, link, none, table, time } from "./dom/pieces.ts";
import { keepUpdated } from "./dom/updated.ts";
import { showNewErasure } from "./erasure-form.ts";
import { filterForm, pager, readFiltered } from "./forms/filters.ts";
import { type Account, nameAccounts, readAccounts } from "./records/accounts.ts";
import { nameIn } from "./records/named.ts";
import type { ShowPage, View, Visit } from "./visit.ts";

interface Erasure {
  readonly id: string;
  readonly account_id?: string;
  readonly status: "running" | "incomplete" | "done";
  readonly digest: string;
  readonly salt: string;
  readonly erased: number;
  readonly redacted: number;
  readonly passed_over?: number;
  readonly created_at: string;
  readonly completed_at?: string;
}

const ROWS_ON_A_PAGE = "50";
const READ_EVERY_MS = 1_000;

/** `#/erasures`, `#/erasures/new`, `#/erasures/ID`. */
export const showErasures: ShowPage = (visit) => {
  const [, which] = visit.place.path;
  if (which === undefined) return showList(visit);
  return which === "new" ? showNewErasure(visit) : showErasure(visit, which);
};

async function showList({ client, place }: Visit): Promise<View> {
  const { recipient, after } = place.query;
  const page = { order: "newest", limit: ROWS_ON_A_PAGE, after };
  const [accounts, { data, next, problem, said }] = await Promise.all([
    readAccounts(client),
    readFiltered(client.get<Page<Erasure>>("erasures", { recipient, ...page })),
  ]);
  return {
    title: "Erasures",
    actions: h("a", { class: "button primary", href: "#/erasures/new" }, "New erasure"),
    content: [
      filterForm(place, [{ name: "recipient", label: "Number or address" }]),
      problem ??
        (data.length > 0
          ? erasureTable(data, await nameAccounts(client, accounts, data))
          : noErasure(recipient)),
      pager(place, "after", next),
    ],
    said,
  };
}

function noErasure(recipient: string | undefined): HTMLElement {
  return recipient
    ? none("This number or address was never erased here.")
    : none("Nothing was erased yet. An erasure deletes what is stored about one number or address.");
}

function erasureTable(erasures: readonly Erasure[], accounts: readonly Account[]): HTMLElement {
  const columns: readonly Column<Erasure>[] = [
    { head: "Asked for", of: (erasure) => link(["erasures", erasure.id], time(erasure.created_at)) },
    { head: "In", kind: "text", of: (erasure) => accountOf(erasure, accounts) },
    { head: "Status", of: ({ status }) => badge(status) },
    { head: "Erased", kind: "number", of: ({ erased }) => erased },
    { head: "Redacted", kind: "number", of: ({ redacted }) => redacted },
    { head: "Done", of: ({ completed_at: at }) => time(at) },
  ];
  return table<Erasure>("Erasures", columns, erasures);
}

function accountOf({ account_id }: Erasure, accounts: readonly Account[]): Child {
  return account_id ? link(["accounts", account_id], nameIn(accounts, account_id)) : "all accounts";
}

/** One erasure, until it is done. */
async function showErasure(visit: Visit, which: string): Promise<View> {
  const { client } = visit;
  const path = `erasures/${encodeURIComponent(which)}`;
  const [first, erasure] = await Promise.all([readAccounts(client), client.get<Erasure>(path)]);
  const accounts = await nameAccounts(client, first, [erasure]);
  const content = h("div", {}, erasureFacts(erasure, accounts));
  const done = new AbortController();
  const read = async () => {
    const read = await client.get<Erasure>(path);
    refresh(content, erasureFacts(read, accounts));
    if (read.status === "done") done.abort();
  };
  const following = { everyMs: READ_EVERY_MS, until: done.signal };
  const actions = erasure.status !== "done" && keepUpdated(visit, read, following);
  return { title: "Erasure", actions, content };
}

function erasureFacts(erasure: Erasure, accounts: readonly Account[]): HTMLElement {
  return facts([
    ["Status", badge(erasure.status)],
    ["In", accountOf(erasure, accounts)],
    ["Messages erased", erasure.erased],
    [
      "Emails to several",
      counted(erasure.redacted, "no longer names the recipient", "no longer name the recipient"),
    ],
    ["Not erased yet", leftOf(erasure)],
    ["Asked for", time(erasure.created_at)],
    ["Done", time(erasure.completed_at)],
    ["Id", id(erasure.id)],
    ["Salt", id(erasure.salt)],
    ["Digest", id(erasure.digest)],
    [
      "Recipient",
      "Not kept: the digest is the SHA-256 of the salt and the recipient. The list finds it by number or address.",
    ],
  ]);
}

/** Absent: nothing is left, as far as is known. */
function leftOf({ passed_over: passedOver }: Erasure): Child {
  if (passedOver === undefined) return undefined;
  return `${counted(passedOver, "place", "places")} in the database that cannot be read or changed; tried again once an hour, and the log says why`;
}
