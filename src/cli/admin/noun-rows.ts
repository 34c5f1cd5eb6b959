/** The options that the nouns of the command line have, beside those of the DLT registry and of routes. */
import { HEADER_ROWS } from "./dlt-rows.ts";
import type { OptionRow } from "./option-rows.ts";

export const account: OptionRow = {
  flags: "--account <id>",
  field: "account_id",
  meaning: "the account",
  isRequired: true,
};
export const ofAccount: OptionRow = { ...account, meaning: "only of this account", isRequired: false };
export const name: OptionRow = { flags: "--name <name>", field: "name", meaning: "a name for people" };

export const mode: OptionRow = { flags: "--mode <mode>", field: "mode", meaning: "sandbox or live" };
export const dltIds: readonly OptionRow[] = [
  {
    flags: "--dlt-template-id <id>",
    field: "dlt_template_id",
    meaning: "id the template is registered under",
  },
  { flags: "--dlt-entity-id <id>", field: "dlt_entity_id", meaning: "id of the principal entity" },
];
export const body: OptionRow = {
  flags: "--body <text>",
  field: "body",
  meaning: "text with {#var#} or {{1}} placeholders",
};
export const from: OptionRow = {
  flags: "--from <sender>",
  field: "from",
  meaning: "sender where a request names none",
};
export const senderId: OptionRow = {
  flags: "--sender-id <header>",
  field: "sender_id",
  meaning: "the header",
};
export const senderMore: readonly OptionRow[] = [
  { flags: "--dlt-entity-id <id>", field: "dlt_entity_id", meaning: "id of the principal entity" },
  {
    flags: "--linked-dlt-template-id <id>",
    field: "linked_dlt_template_ids",
    meaning: "a template it is linked to; none: all of its entity",
    isList: true,
  },
  ...HEADER_ROWS,
  { flags: "--default", field: "is_default", meaning: "use it where nothing names a sender" },
];
export const platforms: OptionRow = {
  flags: "--platform <platform>",
  field: "platforms",
  meaning: "apns, fcm or web; none: all three",
  isList: true,
};
export const externalId: OptionRow = {
  flags: "--external-id <id>",
  field: "external_id",
  meaning: "your own user id",
};
export const suppressionMore: readonly OptionRow[] = [
  {
    flags: "--reason <word>",
    field: "reason",
    meaning: "hard_bounce, soft_bounce, complaint, unsubscribe or manual",
  },
  { flags: "--source <text>", field: "source", meaning: "where it comes from" },
  { flags: "--expires-at <time>", field: "expires_at", meaning: "when it ends by itself; none: never" },
];

export const inboundNumber: OptionRow = {
  flags: "--number <number>",
  field: "number",
  meaning: "the number or short code handsets write to",
};

export const ofConnector: OptionRow = {
  flags: "--connector <id>",
  field: "connector_id",
  meaning: "through which connector for SMS it comes; none: any",
};

export const optedOut: OptionRow = {
  flags: "--recipient <number>",
  field: "recipient",
  meaning: "the number that gets no SMS, in E.164",
};

export const fromSender: OptionRow = {
  flags: "--sender <sender>",
  field: "sender",
  meaning: "from this sender; none: from any of the account",
};

export const reason: OptionRow = { flags: "--reason <text>", field: "reason", meaning: "why" };
