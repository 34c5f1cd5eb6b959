import { type SavedBody, toSavedText } from "../sqlite/intake/idempotency-keys.ts";
import { statusOf } from "../sqlite/messages/message-status.ts";
import { OWN_CONTENT } from "../sqlite/messages/own-content.ts";
import { ONE_SIDED } from "./move-marks.ts";

/** One walk over rows of SQLite that become rows of PostgreSQL. Columns of the same name are taken as they are. */
export interface MovedTable {
  readonly table: string;
  /** The table of SQLite, where it is not of the same name; `where` says which of its rows. */
  readonly from?: string;
  /** Columns of PostgreSQL that SQLite has in other words: an expression over its table. */
  readonly read?: Readonly<Record<string, string>>;
  /** Columns whose value SQL cannot make. */
  readonly convert?: Readonly<Record<string, (value: unknown) => unknown>>;
  /** Which rows; absent: all. */
  readonly where?: string;
  /** The column with the id whose day the row belongs to. */
  readonly day?: string;
  /** Rows read at once; absent: as many as `copyTable` pleases. */
  readonly rows?: number;
  /** What is there already is overwritten. */
  readonly replaces?: string;
  /** What is counted beside all rows, on both sides: rows by the values of this column. */
  readonly countBy?: string;
}

const FIRST_MESSAGE = `CASE messages.content WHEN ${OWN_CONTENT} THEN messages.id
  ELSE (SELECT c.first_message_id FROM contents c WHERE c.id = messages.content) END`;

const PIECES = (field: string) =>
  `(SELECT group_concat(text, '') FROM (SELECT text FROM content_pieces
     WHERE content = contents.id AND field = '${field}' ORDER BY place))`;

/** In pieces for SQLite's sake; a patch leaves out what is `null`. Where the pieces are gone the body has been wiped. */
const WHOLE_BODY = `CASE WHEN EXISTS (SELECT 1 FROM content_pieces WHERE content = contents.id)
  THEN json_patch(coalesce(body, '{}'), json_object('bodyText', ${PIECES("bodyText")}, 'bodyHtml', ${PIECES("bodyHtml")}))
  ELSE body END`;

/** In an order that no reference of one to another minds. */
export function movedTables(): readonly MovedTable[] {
  const contents = { table: "contents", day: "id" } as const;
  const contentId = { id: "first_message_id" } as const;
  return [
    { table: "accounts" },
    { table: "meta", replaces: "name", where: `NOT ${ONE_SIDED}` },
    // Each engine walks through its own tables: one that is under way begins again.
    { table: "erasures", read: { walk: "0", position: "''" } },
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
    { table: "jobs", read: { holder: "NULL" } },
    { table: "webhooks", read: { holder: "NULL" }, countBy: "state" },
    { table: "webhook_attempts" },
    {
      table: "idempotency_keys",
      // Half of its digest is enough of a name.
      read: { name: "substr(hex(name), 1, 32)", taken_at: "0" },
      convert: { body: (body) => toSavedText(body as SavedBody) },
    },
    // Contents in the rows of their messages. After all others: a move that was cut off knows each by its place.
    {
      ...contents,
      from: "messages",
      where: `content = ${OWN_CONTENT}`,
      read: { messages: "1", last_message_id: "messages.id", is_kept: "0" },
    },
  ];
}

/** Of the same columns on both sides. */
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
