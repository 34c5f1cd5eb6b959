/** The tables and columns of records. Statements can only name what is listed here, so no input gets into SQL. */
import type { RecordKind, RecordTypes } from "../../core/records/accounts.ts";

export type ColumnType = "text" | "integer" | "boolean" | "json" | "sealed";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The kind of record that the column refers to by id. */
  readonly parent?: RecordKind;
}

export interface RecordTable {
  readonly table: string;
  readonly columns: Readonly<Record<string, Column>>;
  /** Changes raise `Records.version`. */
  readonly isWatched?: true;
}

/** A column for every field of the record. */
type ColumnsOf<K extends RecordKind> = { readonly [F in keyof Required<RecordTypes[K]>]: Column };

type Tables = { readonly [K in RecordKind]: RecordTable & { readonly columns: ColumnsOf<K> } };

const text = (name: string): Column => ({ name, type: "text" });
const integer = (name: string): Column => ({ name, type: "integer" });
const boolean = (name: string): Column => ({ name, type: "boolean" });
const json = (name: string): Column => ({ name, type: "json" });
const sealed = (name: string): Column => ({ name, type: "sealed" });

const id = text("id");
const accountId: Column = { ...text("account_id"), parent: "accounts" };
const createdAt = integer("created_at");

export const RECORD_TABLES: Tables = {
  accounts: {
    table: "accounts",
    columns: { id, name: text("name"), mode: text("mode"), createdAt },
  },
  apiKeys: {
    table: "api_keys",
    columns: {
      id,
      accountId,
      name: text("name"),
      prefix: text("prefix"),
      digest: text("digest"),
      createdAt,
      revokedAt: integer("revoked_at"),
    },
  },
  smsTemplates: {
    table: "sms_templates",
    columns: {
      id,
      accountId,
      name: text("name"),
      body: text("body"),
      dltTemplateId: text("dlt_template_id"),
      dltEntityId: text("dlt_entity_id"),
      from: text("sender"),
      category: text("category"),
      variableTags: json("variable_tags"),
      linkedHeaders: json("linked_headers"),
      status: text("status"),
      createdAt,
    },
  },
  senders: {
    table: "senders",
    columns: {
      id,
      accountId,
      senderId: text("sender_id"),
      dltEntityId: text("dlt_entity_id"),
      linkedDltTemplateIds: json("linked_dlt_template_ids"),
      headerType: text("header_type"),
      status: text("status"),
      isDefault: boolean("is_default"),
      createdAt,
    },
  },
  dltEntities: {
    table: "dlt_entities",
    columns: {
      id,
      accountId,
      entityId: text("entity_id"),
      name: text("name"),
      status: text("status"),
      whitelistedUrls: json("whitelisted_urls"),
      callbackNumbers: json("callback_numbers"),
      createdAt,
    },
  },
  domains: {
    table: "domains",
    columns: {
      id,
      accountId,
      domain: text("domain"),
      ownershipToken: text("ownership_token"),
      dkimKeys: sealed("dkim_keys"),
      verifiedAt: integer("verified_at"),
      failingSince: integer("failing_since"),
      lapsedAt: integer("lapsed_at"),
      lastCheck: json("last_check"),
      nextCheckAt: integer("next_check_at"),
      createdAt,
    },
  },
  pushApps: {
    table: "push_apps",
    columns: { id, accountId, name: text("name"), platforms: json("platforms"), createdAt },
  },
  contacts: {
    table: "contacts",
    columns: { id, accountId, externalId: text("external_id"), createdAt },
  },
  connectors: {
    table: "connectors",
    columns: {
      id,
      name: text("name"),
      kind: text("kind"),
      config: json("config"),
      secrets: sealed("secrets"),
      isEnabled: boolean("is_enabled"),
      createdAt,
    },
    isWatched: true,
  },
  routes: {
    table: "routes",
    columns: {
      id,
      accountId,
      channel: text("channel"),
      match: text("match"),
      sender: text("sender"),
      category: text("category"),
      connectorIds: { ...json("connector_ids"), parent: "connectors" },
      weights: json("weights"),
      failover: text("failover"),
      createdAt,
    },
    isWatched: true,
  },
  suppressions: {
    table: "suppressions",
    columns: {
      id,
      accountId,
      email: text("email"),
      reason: text("reason"),
      source: text("source"),
      expiresAt: integer("expires_at"),
      createdAt,
    },
  },
  inboundNumbers: {
    table: "inbound_numbers",
    columns: {
      id,
      accountId,
      number: text("number"),
      connectorId: { ...text("connector_id"), parent: "connectors" },
      createdAt,
    },
  },
  optOuts: {
    table: "opt_outs",
    columns: {
      id,
      accountId,
      sender: text("sender"),
      recipient: text("recipient"),
      reason: text("reason"),
      createdAt,
    },
  },
};

/** Without the fields that are `undefined`. */
export function given(record: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** Throws if the table has no such field. */
export function columnOf(table: RecordTable, field: string): Column {
  const column = Object.hasOwn(table.columns, field) ? table.columns[field] : undefined;
  if (!column) throw new Error(`${table.table} has no field ${field}`);
  return column;
}

/** The column of a field to search by. Throws like `columnOf`, and for sealed columns: sealing a value twice gives two texts. */
export function comparable(table: RecordTable, field: string): Column {
  const column = columnOf(table, field);
  if (column.type === "sealed") throw new Error(`${table.table} cannot be searched by ${field}`);
  return column;
}
