import { type SavedBody, toSavedText } from "../sqlite/intake/idempotency-keys.ts";
import { statusOf } from "../sqlite/messages/message-status.ts";
import { OWN_CONTENT } from "../sqlite/messages/own-content.ts";
import { ONE_SIDED } from "./move-marks.ts";

/** One walk over rows of SQLite that become rows of PostgreSQL. Columns of the same name are copied unchanged. */
export interface MovedTable {
  /** The table of PostgreSQL. */
  readonly table: string;
  /** The table of SQLite, if its name differs; `where` says which of its rows. */
  readonly from?: string;
  /** For columns of PostgreSQL that SQLite stores in another form: an expression over its table. */
  readonly read?: Readonly<Record<string, string>>;
  /** For columns whose value SQL cannot compute. */
  readonly convert?: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Which rows; absent: all. */
  readonly where?: string;
  /** For a table that is partitioned by day: the column with the id that tells the row's day. */
  readonly day?: string;
  /** Rows read at once; absent: the default of `copyTable`. */
  readonly rows?: number;
  /** The key by which existing rows are overwritten. */
  readonly replaces?: string;
  /** A column by whose values rows are counted on both sides, to be compared. */
  readonly countBy?: string;
}

const FIRST_MESSAGE = `CASE messages.content WHEN ${OWN_CONTENT} THEN messages.id
  ELSE (SELECT c.first_message_id FROM contents c WHERE c.id = messages.content) END`;

const joinPieces = (field: string) =>
  `(SELECT group_concat(text, '') FROM (SELECT text FROM content_pieces
     WHERE content = contents.id AND field = '${field}' ORDER BY place))`;

/**
 * Joins the pieces in which SQLite stores large texts, and takes away the mark that they are apart, since PostgreSQL would then be
 * asked for them; `json_patch` drops NULLs. Without pieces the body has been wiped.
 */
const WHOLE_BODY = `CASE WHEN EXISTS (SELECT 1 FROM content_pieces WHERE content = contents.id)
  THEN json_patch(coalesce(body, '{}'), json_object('isBodyApart', NULL,
    'bodyText', ${joinPieces("bodyText")}, 'bodyHtml', ${joinPieces("bodyHtml")}))
  ELSE body END`;

/** A row's due time. Leases end with the move, as at a start on SQLite: the process that held them is gone. */
const dueOf = (isLeased: string) =>
  `CASE WHEN ${isLeased} THEN min(due_at, CAST(unixepoch('subsec') * 1000 AS INTEGER)) ELSE due_at END`;

/** In an order in which each row comes after those it refers to. */
export function movedTables(): readonly MovedTable[] {
  const contents = { table: "contents", day: "id" } as const;
  const contentId = { id: "first_message_id" } as const;
  return [
    { table: "accounts" },
    { table: "meta", replaces: "name", where: `NOT ${ONE_SIDED}` },
    // Each engine goes through its own tables, so an erasure under way begins again. SQLite does not note the last job.
    { table: "erasures", read: { walk: "0", position: "''", last_job: "NULL" } },
    ...PLAIN.map((table) => ({ table })),
    { ...contents, read: contentId, where: "pieces = 0" },
    { ...contents, read: { ...contentId, body: WHOLE_BODY }, where: "pieces > 0", rows: 1 },
    {
      table: "messages",
      day: "id",
      read: { content: FIRST_MESSAGE, status: statusOf("messages") },
      countBy: "status",
    },
    { table: "timeline", day: "message_id" },
    {
      table: "events",
      day: "subject_id",
      read: {
        subject_id: "coalesce(message_id, json_extract(data, '$.message_id'))",
        position: "coalesce(position, 0)",
        event_id: "id",
      },
    },
    { table: "jobs", read: { holder: "NULL", due_at: dueOf("is_leased = 1") } },
    { table: "webhooks", read: { holder: "NULL", due_at: dueOf("state = 'leased'") }, countBy: "state" },
    { table: "webhook_attempts" },
    {
      table: "idempotency_keys",
      // PostgreSQL names keys by the first half of the digest.
      read: { name: "substr(hex(name), 1, 32)", taken_at: "0" },
      convert: { body: (body) => toSavedText(body as SavedBody) },
    },
    // Contents in the rows of their messages. Last, since an interrupted move knows walks by their index in this list.
    {
      ...contents,
      from: "messages",
      where: `content = ${OWN_CONTENT}`,
      read: { messages: "1", last_message_id: "messages.id", is_kept: "0" },
    },
  ];
}

/** Tables with the same columns on both sides. */
const PLAIN = [
  "settings",
  "api_keys",
  "connectors",
  "routes",
  "sms_templates",
  "senders",
  "dlt_entities",
  "domains",
  "push_apps",
  "contacts",
  "registrations",
  "suppressions",
  "soft_bounces",
  "opt_outs",
  "inbound_numbers",
  "inbound_messages",
  "inbound_parts",
  "webhook_secrets",
  "queues",
  "sms_usage",
  "provider_ids",
  "unconfirmed_parts",
  "overdue_receipts",
  "parked_receipts",
  "sandbox_messages",
  "mta_sts_policies",
] as const;

/** Tables of SQLite that stay behind, and why. */
export const LEFT_BEHIND: Readonly<Record<string, string>> = {
  migrations: "each database has its own",
  content_pieces: "they go with their contents",
  key_names: "an index of keys, which have another on the other side",
};
