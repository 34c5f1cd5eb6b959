import Type from "typebox";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { parseEmailAddress } from "../../core/email/email-address.ts";
import type { ChannelName, MessageStatus } from "../../core/messages/message.ts";
import { present } from "../../core/present.ts";
import { INVALID_PHONE_NUMBER, parsePhoneNumber } from "../../core/sms/phone-number.ts";
import { uuidTime } from "../../core/uuid.ts";
import type { MessageQuery } from "../../store/store.ts";
import { validationFailed } from "../errors.ts";
import { countSchema, readCount } from "../lists/read-count.ts";
import { readCursor } from "../lists/read-cursor.ts";
import { readTime, timeSchema } from "../lists/read-time.ts";
import { restorePlus } from "../lists/restore-plus.ts";
import { oldestShownAt } from "./message-id.ts";

const LIST_LIMIT = { min: 1, max: 200, otherwise: 50 };

export const AN_ADDRESS =
  "An address among to, cc and bcc, in any case; an international domain in either spelling (`bücher.example` is " +
  "`xn--bcher-kva.example`)";

/** The query parameters of every list of messages, except `status` and the one that continues a page. */
export const LIST_QUERY = {
  tag: Type.Optional(Type.String({ description: "A tag of the message, in the same case" })),
  to: Type.Optional(Type.String({ description: `The phone number; or an address: ${AN_ADDRESS}` })),
  created_after: timeSchema("Created at this time or later"),
  created_before: timeSchema("Created before this time"),
  limit: countSchema(LIST_LIMIT),
} as const;

/** What a list holds: the messages of a channel. */
export interface Listed {
  readonly channel: ChannelName;
  /** The channel's statuses, by one of which the list may be filtered. */
  readonly statuses: readonly MessageStatus[];
  /** The name of the parameter that continues a page; absent: `cursor`. */
  readonly cursor?: "cursor" | "after";
}

/** Reads the filters of a list. Refuses with every problem at once, those already in `errors` included. */
export function readListQuery(
  query: URLSearchParams,
  { channel, statuses, cursor = "cursor" }: Listed,
  { now, errors = createErrors() }: { readonly now: number; readonly errors?: ErrorCollector },
): Omit<MessageQuery, "accountId"> {
  const createdAfter = readTime(query, { name: "created_after", errors });
  const limit = readCount(query, { name: "limit", rule: LIST_LIMIT, errors });
  const filters = present({
    status: readStatus(query.get("status"), statuses, errors),
    tag: query.get("tag") ?? undefined,
    recipient: readRecipient(query.get("to"), channel, errors),
    createdBefore: readTime(query, { name: "created_before", errors }),
    before: readCursor(query, { name: cursor, isCursor, errors }),
  });
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return { channel, limit, createdFrom: Math.max(createdAfter ?? 0, oldestShownAt(now)), ...filters };
}

function readStatus(
  text: string | null,
  statuses: readonly MessageStatus[],
  errors: ErrorCollector,
): MessageStatus | undefined {
  const status = statuses.find((each) => each === text);
  if (text !== null && !status) errors.add("status", `must be one of ${statuses.join(", ")}`);
  return status;
}

function readRecipient(
  text: string | null,
  channel: ChannelName,
  errors: ErrorCollector,
): string | undefined {
  if (text === null) return undefined;
  const recipient = channel === "sms" ? parsePhoneNumber(restorePlus(text)) : parseEmailAddress(text);
  if (recipient === undefined) {
    errors.add("to", channel === "sms" ? INVALID_PHONE_NUMBER : "must be an email address");
  }
  return recipient;
}

/** Messages have ids that hold a time. */
const isCursor = (text: string) => uuidTime(text) !== undefined;
