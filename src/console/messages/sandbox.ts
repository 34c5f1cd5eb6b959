import type { Page } from "../client.ts";
import { type Child, h } from "../dom/dom.ts";
import { facts, id, json, link, none, time } from "../dom/pieces.ts";
import { type Filter, filterForm, pager, readFiltered } from "../forms/filters.ts";
import { accountFilter, chosenAccount, findAccounts, readAccounts } from "../records/accounts.ts";
import type { ShowPage } from "../visit.ts";
import { addressLines, addressNode } from "./addresses.ts";
import type { Address } from "./message.ts";

interface Given {
  readonly id: string;
  readonly account_id: string;
  readonly message_id: string;
  readonly channel: string;
  readonly to: string;
  readonly received_at: string;
  readonly text?: string;
  readonly segments?: number;
  readonly encoding?: string;
  readonly from?: Address;
  readonly template_id?: string;
  readonly dlt_template_id?: string;
  readonly dlt_entity_id?: string;
  readonly variables?: unknown;
  readonly recipients?: readonly Address[];
  readonly cc?: readonly Address[];
  readonly bcc?: readonly Address[];
  readonly reply_to?: string;
  readonly subject?: string;
  readonly body_text?: string;
  readonly body_html?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly source?: string;
  readonly truncated?: readonly string[];
}

/** An entry may hold a whole email. */
const ROWS_ON_A_PAGE = "50";

/** What the simulator was given, as it would have been transmitted: the newest first. */
export const showSandbox: ShowPage = async ({ client, place }) => {
  const accounts = await readAccounts(client, place, "sandbox");
  const account = chosenAccount(accounts, place);
  if (!account) return { title: "Sandbox", content: none("There is no sandbox account.") };
  const { message_id, to, channel, after } = place.query;
  const of = message_id ? { message_id } : { account_id: account.id, to, channel };
  const page = { order: "newest", limit: ROWS_ON_A_PAGE, after };
  const reading = client.get<Page<Given>>("sandbox/messages", { ...of, ...page });
  const { data, next, problem, said } = await readFiltered(reading);
  const filters: readonly Filter[] = message_id
    ? [{ name: "message_id", label: "Message id" }]
    : [accountFilter(accounts, account, findAccounts(client, accounts, "sandbox")), ...FILTERS];
  return {
    title: "Sandbox",
    content: [
      filterForm(place, filters),
      problem ?? (data.length === 0 && none("The simulator was given nothing like this.")),
      h(
        "div",
        { class: "given" },
        data.map((row, index) => cardOf(row, message_id !== undefined && index === 0)),
      ),
      pager(place, "after", next),
    ],
    said,
  };
};

const FILTERS: readonly Filter[] = [
  {
    name: "channel",
    label: "Channel",
    choices: [
      ["", "all"],
      ["sms", "SMS"],
      ["email", "Email"],
    ],
  },
  { name: "to", label: "Recipient" },
];

function cardOf(given: Given, isOpen: boolean): HTMLElement {
  const { received_at: at, channel, to, text, subject, dlt_template_id: dlt } = given;
  return h(
    "details",
    { open: isOpen },
    h(
      "summary",
      {},
      h("span", { class: "hint" }, time(at)),
      h("span", {}, channel),
      h("span", {}, to),
      h("span", { class: "excerpt" }, text ?? subject ?? (dlt && `DLT template ${dlt}`)),
    ),
    factsOf(given),
  );
}

function factsOf(given: Given): HTMLElement {
  const { recipients = [], cc = [], bcc = [], from, headers = {}, truncated } = given;
  return facts([
    ["Message", link(["messages", given.message_id], id(given.message_id))],
    ["From", from && addressNode(from)],
    ["To", addressLines(recipients) ?? given.to],
    ["Cc", addressLines(cc)],
    ["Bcc", addressLines(bcc)],
    ["Reply to", given.reply_to],
    ["Template", given.template_id && link(["sms-templates", given.template_id], id(given.template_id))],
    ["DLT template", given.dlt_template_id],
    ["DLT entity", given.dlt_entity_id],
    ["Variables", json(given.variables)],
    ["Segments", given.segments],
    ["Encoding", given.encoding],
    ["Text", source(given.text)],
    ["Subject", given.subject],
    [
      "Headers",
      source(
        Object.entries(headers)
          .map(([name, value]) => `${name}: ${value}`)
          .join("\n"),
      ),
    ],
    ["Text body", source(given.body_text)],
    ["HTML body", source(given.body_html)],
    ["Source", source(given.source)],
    ["Cut", truncated && `${truncated.join(", ")}: too long to be kept whole`],
  ]);
}

/** Never anything but text: this is what strangers have written. */
function source(text: string | undefined): Child {
  return text ? h("pre", {}, text) : undefined;
}
