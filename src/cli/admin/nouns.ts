/** The nouns of the command line, as a table from which their commands are made. */
import { type Column, column, type Row } from "./command-line.ts";
import { ENTITY_ID, ENTITY_ROWS, TEMPLATE_ROWS } from "./dlt-rows.ts";
import { dnsRecordsText } from "./dns-records-text.ts";
import {
  account,
  body,
  dltIds,
  externalId,
  from,
  fromSender,
  inboundNumber,
  mode,
  name,
  ofAccount,
  ofConnector,
  optedOut,
  platforms,
  reason,
  senderId,
  senderMore,
  suppressionMore,
} from "./noun-rows.ts";
import { type OptionRow, required } from "./option-rows.ts";
import { ROUTE_ROWS, writtenConnectors } from "./route-rows.ts";

export interface Noun {
  readonly name: string;
  /** What one is called in sentences: `SMS template`. */
  readonly one: string;
  /** `create --json` prints exactly these fields; absent: the whole answer. Scripts rely on it. */
  readonly createdFields?: readonly string[];
  readonly columns: readonly Column[];
  readonly create: readonly OptionRow[];
  readonly update: readonly OptionRow[];
  readonly filters: readonly OptionRow[];
  /** Printed below a record that was just created. */
  readonly onCreated?: (record: Row) => string;
  /** What is deleted together with it. */
  readonly goesToo?: string;
  /** A field that is printed below the others, and how. */
  readonly footer?: { readonly field: string; readonly text: (value: never) => string };
}

const id = column("ID", "id");
const created = column("CREATED", "created_at");
const owner = column("ACCOUNT", "account_id");

export const NOUNS: readonly Noun[] = [
  {
    name: "accounts",
    one: "account",
    createdFields: ["account_id"],
    columns: [id, column("NAME", "name"), column("MODE", "mode"), created],
    create: [required(name), required(mode)],
    update: [name, mode],
    filters: [{ ...mode, meaning: "only sandbox accounts, or only live ones" }],
  },
  {
    name: "keys",
    one: "API key",
    createdFields: ["key_id", "api_key"],
    columns: [
      id,
      owner,
      column("NAME", "name"),
      column("KEY", "prefix"),
      created,
      column("REVOKED", "revoked_at"),
    ],
    create: [account, name],
    update: [name],
    filters: [ofAccount],
    onCreated: () => "Keep the api_key now: it is not stored, and never shown again.\n",
  },
  {
    name: "sms-templates",
    one: "SMS template",
    columns: [
      id,
      owner,
      column("NAME", "name"),
      column("DLT TEMPLATE", "dlt_template_id"),
      column("CATEGORY", "category"),
      column("STATUS", "status"),
      column("BODY", "body"),
    ],
    create: [account, required(name), required(body), ...dltIds, from, ...TEMPLATE_ROWS],
    update: [name, body, ...dltIds, from, ...TEMPLATE_ROWS],
    filters: [ofAccount],
  },
  {
    name: "senders",
    one: "sender",
    columns: [
      id,
      owner,
      column("SENDER ID", "sender_id"),
      column("ENTITY", "dlt_entity_id"),
      column("DEFAULT", "is_default"),
      created,
    ],
    create: [account, required(senderId), ...senderMore],
    update: [senderId, ...senderMore],
    filters: [ofAccount],
  },
  {
    name: "dlt-entities",
    one: "DLT entity",
    columns: [
      id,
      owner,
      column("ENTITY", "entity_id"),
      column("NAME", "name"),
      column("STATUS", "status"),
      created,
    ],
    create: [account, required(ENTITY_ID), name, ...ENTITY_ROWS],
    update: [ENTITY_ID, name, ...ENTITY_ROWS],
    filters: [ofAccount, { ...ENTITY_ID, meaning: "only this one" }],
  },
  {
    name: "domains",
    one: "domain",
    columns: [
      id,
      owner,
      column("DOMAIN", "domain"),
      column("STATE", "state"),
      column("VERIFIED", "verified_at"),
      created,
    ],
    create: [
      account,
      { flags: "--domain <domain>", field: "domain", meaning: "for example example.com", isRequired: true },
    ],
    update: [
      { flags: "--dkim-selector <name>", field: "dkim_selector", meaning: "where the DKIM key is looked up" },
    ],
    filters: [ofAccount, { flags: "--domain <domain>", field: "domain", meaning: "only this domain" }],
    onCreated: (record) => `Put the records into the DNS, then: domains verify ${record.id}\n`,
    footer: { field: "records", text: dnsRecordsText },
  },
  {
    name: "push-apps",
    one: "push app",
    columns: [id, owner, column("NAME", "name"), column("PLATFORMS", "platforms"), created],
    create: [account, required(name), platforms],
    update: [name, platforms],
    filters: [ofAccount],
  },
  {
    name: "contacts",
    one: "contact",
    columns: [id, owner, column("EXTERNAL ID", "external_id"), created],
    create: [account, required(externalId)],
    update: [externalId],
    goesToo: "the devices registered to it",
    filters: [ofAccount, externalId],
  },
  {
    name: "routes",
    one: "route",
    columns: [
      id,
      { head: "ACCOUNT", of: (row) => row.account_id ?? "all live" },
      column("CHANNEL", "channel"),
      { head: "MATCH", of: (row) => row.match || "all" },
      column("SENDER", "sender"),
      column("CATEGORY", "category"),
      { head: "CONNECTORS", of: writtenConnectors },
    ],
    create: [
      { ...account, meaning: "the account; none: every live account", isRequired: false },
      { flags: "--channel <channel>", field: "channel", meaning: "sms or email", isRequired: true },
      ...ROUTE_ROWS.map((row) => (row.field === "connectors" ? required(row) : row)),
    ],
    update: ROUTE_ROWS,
    filters: [ofAccount],
  },
  {
    name: "suppressions",
    one: "suppression",
    columns: [
      id,
      owner,
      { head: "EMAIL", of: (row) => row.email ?? "(erased)" },
      column("REASON", "reason"),
      column("UNTIL", "expires_at"),
      created,
    ],
    create: [
      account,
      {
        flags: "--email <address>",
        field: "email",
        meaning: "the address that gets no email",
        isRequired: true,
      },
      ...suppressionMore,
    ],
    update: suppressionMore,
    filters: [ofAccount, { flags: "--email <address>", field: "email", meaning: "only this address" }],
  },
  {
    name: "inbound-numbers",
    one: "inbound number",
    columns: [
      id,
      owner,
      column("NUMBER", "number"),
      { head: "CONNECTOR", of: (row) => row.connector_id ?? "any" },
      created,
    ],
    create: [account, required(inboundNumber), ofConnector],
    update: [inboundNumber, ofConnector],
    filters: [ofAccount, ofConnector],
  },
  {
    name: "opt-outs",
    one: "opt-out",
    columns: [
      id,
      owner,
      { head: "RECIPIENT", of: (row) => row.recipient ?? "(erased)" },
      { head: "SENDER", of: (row) => row.sender ?? "any" },
      column("REASON", "reason"),
      created,
    ],
    create: [account, required(optedOut), fromSender, reason],
    update: [reason],
    filters: [
      ofAccount,
      { ...optedOut, meaning: "only this number" },
      { ...fromSender, meaning: "only of this sender" },
    ],
  },
];
