/** Options for what DLT portals register: templates, headers and entities. */
import type { OptionRow } from "./option-rows.ts";

const STATUS: OptionRow = {
  flags: "--status <status>",
  field: "status",
  meaning: "on the DLT portal: approved, pending, rejected, inactive or blacklisted",
};

export const TEMPLATE_ROWS: readonly OptionRow[] = [
  {
    flags: "--category <category>",
    field: "category",
    meaning: "transactional, service_implicit, service_explicit or promotional",
  },
  {
    flags: "--variable-tag <tag>",
    field: "variable_tags",
    meaning:
      "what the portal tags the next {#var#} as: numeric, alphanumeric, url, urlott, cbn, email or var",
    isList: true,
  },
  {
    flags: "--linked-header <header>",
    field: "linked_headers",
    meaning: "a header the portal has linked to it",
    isList: true,
  },
  STATUS,
];

export const HEADER_ROWS: readonly OptionRow[] = [
  {
    flags: "--header-type <type>",
    field: "header_type",
    meaning: "transactional, service, promotional or government",
  },
  STATUS,
];

export const ENTITY_ID: OptionRow = {
  flags: "--entity-id <id>",
  field: "entity_id",
  meaning: "as the DLT portal gave it",
};

export const ENTITY_ROWS: readonly OptionRow[] = [
  STATUS,
  {
    flags: "--whitelisted-url <prefix>",
    field: "whitelisted_urls",
    meaning: "what registered links begin with",
    isList: true,
  },
  {
    flags: "--callback-number <number>",
    field: "callback_numbers",
    meaning: "a registered call-back number",
    isList: true,
  },
];
