import { type Child, h } from "../dom/dom.ts";
import { none } from "../dom/pieces.ts";
import { type Filter, filterForm, pager, readFiltered } from "../forms/filters.ts";
import { toHash } from "../place.ts";
import { accountFilter, chosenAccount, findAccounts, readAccounts } from "../records/accounts.ts";
import type { ShowPage } from "../visit.ts";
import { readMessages } from "./message.ts";
import { messageTable } from "./message-table.ts";
import { createTemplateNames } from "./template-names.ts";

const STATUSES = {
  sms: ["queued", "scheduled", "sending", "sent", "delivered", "failed", "undelivered", "expired"],
  email: ["queued", "scheduled", "sending", "sent", "delivered", "bounced", "failed"],
} as const;

/** The messages of one account and channel, the newest first. */
export const showMessages: ShowPage = async ({ client, place }) => {
  const accounts = await readAccounts(client, place);
  const account = chosenAccount(accounts, place);
  if (!account) return { title: "Messages", content: none("There are no accounts.") };
  const channel = place.query.channel === "email" ? "email" : "sms";
  const { status, ...others } = place.query;
  const known = STATUSES[channel].find((each) => each === status);
  const query = { ...others, status: known, account_id: account.id, channel };
  const { data, next, problem, said } = await readFiltered(readMessages(client, query));
  const names = await createTemplateNames(client)(data);
  const filters = [accountFilter(accounts, account, findAccounts(client, accounts)), ...filtersOf(channel)];
  return {
    title: "Messages",
    actions: idForm(),
    content: [
      filterForm(place, filters),
      problem ?? (data.length > 0 ? messageTable(data, names) : nothingFound(next)),
      pager(place, "after", next),
    ],
    said,
  };
};

function filtersOf(channel: "sms" | "email"): readonly Filter[] {
  const statuses = STATUSES[channel].map((status) => [status, status] as const);
  return [
    {
      name: "channel",
      label: "Channel",
      choices: [
        ["sms", "SMS"],
        ["email", "Email"],
      ],
    },
    { name: "status", label: "Status", choices: [["", "all"], ...statuses] },
    { name: "to", label: "Recipient" },
    { name: "tag", label: "Tag" },
    { name: "created_after", label: "Created after", isTime: true },
    { name: "created_before", label: "Created before", isTime: true },
  ];
}

/** A page of a filtered list may be empty, and a later one not. */
function nothingFound(next: string | undefined): HTMLElement {
  return none(
    next === undefined
      ? "No such messages. They are kept for 7 days."
      : "None among those looked at so far: the next page goes on.",
  );
}

/** Straight to a message, of whichever account and channel. */
function idForm(): Child {
  const input = h("input", {
    id: "message-id",
    placeholder: "Message id",
    "aria-label": "Message id",
    required: true,
  });
  const onsubmit = (event: Event) => {
    event.preventDefault();
    location.hash = toHash(["messages", input.value.trim()]);
  };
  return h("form", { class: "inline", onsubmit }, input, h("button", {}, "Go"));
}
