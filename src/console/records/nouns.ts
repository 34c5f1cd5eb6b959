/** The records that operators maintain, as a table from which their pages are made. Pure. */
import { type Row, toText } from "../forms/fields.ts";
import { type Route, routeText } from "./route-text.ts";

export interface Noun {
  /** As in the path of the API, and of the page. */
  readonly name: string;
  readonly title: string;
  /** What one is called in sentences. */
  readonly one: string;
  /** What one is for, where there is none yet. */
  readonly about: string;
  /**
   * The fields of the list. The first leads to the record and names it, or its id does if it has none. Where the window is
   * narrow, the last are out of sight.
   */
  readonly columns: readonly string[];
  /** What a search of the list looks at, in words. */
  readonly calledBy: string;
  /** Fields that the list can be narrowed by, beside the account and the search. */
  readonly filters?: readonly string[];
  /** Whether its list can be narrowed to an account. */
  readonly isOfAccount: boolean;
  readonly actions?: readonly RecordAction[];
  /** Fields of the request that another one says better. */
  readonly hidden?: readonly string[];
  /** Which kind of file it can be imported from. */
  readonly file?: "dlt" | "suppressions";
  /** What its deletion is called, and asks. */
  readonly remove?: { readonly verb: string; readonly done: string };
  /** What is deleted together with it. */
  readonly goesToo?: string;
}

export interface RecordAction {
  readonly text: string;
  /** After the record's own path. */
  readonly path: string;
  /** What is asked before it is done. */
  readonly question?: string;
  readonly outcome: (answer: Row) => { readonly text: string; readonly isGood: boolean };
}

export const NOUNS: readonly Noun[] = [
  {
    name: "accounts",
    title: "Accounts",
    one: "account",
    about: "An account has its own messages, API keys and settings.",
    columns: ["name", "mode", "created_at"],
    calledBy: "name",
    isOfAccount: false,
  },
  {
    name: "keys",
    title: "API keys",
    one: "API key",
    about: "An application sends with the API key of an account.",
    columns: ["prefix", "name", "account_id", "created_at", "revoked_at"],
    calledBy: "prefix or name",
    isOfAccount: true,
    remove: { verb: "Revoke", done: "revoked" },
  },
  {
    name: "senders",
    title: "Senders",
    one: "sender",
    about:
      "A sender is what SMS come from: a sender id or a DLT header. A live account sends from its own only.",
    columns: ["sender_id", "account_id", "dlt_entity_id", "header_type", "status", "is_default"],
    calledBy: "sender id",
    isOfAccount: true,
    file: "dlt",
  },
  {
    name: "sms-templates",
    title: "SMS templates",
    one: "SMS template",
    about: "Every SMS is rendered from a template.",
    columns: ["name", "account_id", "dlt_template_id", "category", "status", "body"],
    calledBy: "name or DLT template id",
    isOfAccount: true,
    file: "dlt",
  },
  {
    name: "dlt-entities",
    title: "DLT entities",
    one: "DLT entity",
    about:
      "A DLT entity is a business for which an account sends to India. Once an account has one, all others are refused.",
    columns: ["entity_id", "name", "account_id", "status", "created_at"],
    calledBy: "entity id or name",
    filters: ["entity_id"],
    isOfAccount: true,
    file: "dlt",
  },
  {
    name: "domains",
    title: "Domains",
    one: "domain",
    about: "A live account sends email from domains that are verified over the DNS.",
    columns: ["domain", "account_id", "state", "verified_at", "created_at"],
    calledBy: "domain",
    filters: ["domain"],
    isOfAccount: true,
    actions: [
      {
        text: "Verify",
        path: "verify",
        outcome: verification,
      },
      {
        text: "New DKIM keys",
        path: "rotate-dkim",
        question: "Make new DKIM keys? The old ones sign until the new records are seen in the DNS.",
        outcome: () => ({ text: "New keys are made: publish their records.", isGood: true }),
      },
    ],
  },
  {
    name: "push-apps",
    title: "Push apps",
    one: "push app",
    about: "Devices register with a push app.",
    columns: ["name", "account_id", "platforms", "created_at"],
    calledBy: "name",
    isOfAccount: true,
  },
  {
    name: "contacts",
    title: "Contacts",
    one: "contact",
    about:
      "A contact is a user, to whom devices are linked. Devices bring their own; those with an external id are created here.",
    columns: ["external_id", "id", "account_id", "created_at"],
    calledBy: "external id",
    filters: ["external_id"],
    goesToo: "its devices",
    isOfAccount: true,
  },
  {
    name: "suppressions",
    title: "Suppressions",
    one: "suppression",
    about:
      "No email is sent to a suppressed address. Bounces and complaints suppress addresses by themselves.",
    columns: ["email", "reason", "account_id", "expires_at", "created_at", "id"],
    calledBy: "address",
    filters: ["email"],
    isOfAccount: true,
    file: "suppressions",
  },
  {
    name: "opt-outs",
    title: "Opt-outs",
    one: "opt-out",
    about: "No SMS is sent to a number that has opted out. Stop words opt out by themselves.",
    columns: ["recipient", "reason", "account_id", "sender", "created_at", "id"],
    calledBy: "number",
    filters: ["recipient", "sender"],
    isOfAccount: true,
  },
  {
    name: "inbound-numbers",
    title: "Inbound numbers",
    one: "inbound number",
    about: "An account receives what handsets write to its inbound numbers.",
    columns: ["number", "account_id", "connector_id", "created_at"],
    calledBy: "number",
    isOfAccount: true,
  },
  {
    name: "routes",
    title: "Routes",
    one: "route",
    about: "A route says over which connectors messages of live accounts are sent.",
    columns: ["match", "account_id", "connectors", "failover", "created_at"],
    calledBy: "prefix, domain or sender",
    isOfAccount: true,
    hidden: ["connector_ids"],
  },
];

/** What a record is called: its first column, or its id if that was erased. */
export function nameOf({ name, columns }: Pick<Noun, "name" | "columns">, record: Row): string {
  if (name === "routes") return routeText(record as unknown as Route);
  const first = columns[0] ?? "id";
  return toText(record[first]) || String(record.id);
}

/** What was found in the DNS, where it is not what it should be. */
function verification({ verified, records }: Row): { text: string; isGood: boolean } {
  if (verified) return { text: "Verified", isGood: true };
  const problems = (records as readonly Row[])
    .filter(({ ok, role }) => !ok && role === "required")
    .map(({ name, problem }) => `${name}: ${problem ?? "missing"}`);
  const text = ["Not verified yet: changes in the DNS can take hours to be seen.", ...problems].join("\n");
  return { text, isGood: false };
}
