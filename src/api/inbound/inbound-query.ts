/** The query parameters of a list of inbound messages. */
import Type, { type TSchema } from "typebox";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { isStorable } from "../../core/body/text-rules.ts";
import type { InboundQuery } from "../../core/inbound/inbound.ts";
import { toInboundAddress } from "../../core/inbound/inbound-address.ts";
import { present } from "../../core/present.ts";
import { validationFailed } from "../errors.ts";
import { countSchema, readCount } from "../lists/read-count.ts";
import { CURSOR, readCursor } from "../lists/read-cursor.ts";
import { readTime, timeSchema } from "../lists/read-time.ts";
import { restorePlus } from "../lists/restore-plus.ts";
import { oldestShownAt } from "../messages/message-id.ts";

const LIMIT = { min: 1, max: 1_000, otherwise: 100 };

export const INBOUND_QUERY: Readonly<Record<string, TSchema>> = {
  from: Type.Optional(Type.String({ description: "Only messages from this number" })),
  to: Type.Optional(Type.String({ description: "Only messages to this number or short code" })),
  after: timeSchema("Only messages received at this time or later"),
  before: timeSchema("Only messages received before this time"),
  cursor: CURSOR,
  limit: countSchema(LIMIT),
};

/** Reads the filters; refuses with every problem at once. `after` reaches no further back than retention. */
export function readInboundQuery(query: URLSearchParams, now: number): Omit<InboundQuery, "accountId"> {
  const errors = createErrors();
  const after = readTime(query, { name: "after", errors });
  const asked = {
    from: readAddress(query, "from", errors),
    to: readAddress(query, "to", errors),
    after: Math.max(after ?? 0, oldestShownAt(now)),
    before: readTime(query, { name: "before", errors }),
    olderThan: readCursor(query, { name: "cursor", errors }),
    limit: readCount(query, { name: "limit", rule: LIMIT, errors }),
  };
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return present(asked);
}

function readAddress(
  query: URLSearchParams,
  name: "from" | "to",
  errors: ErrorCollector,
): string | undefined {
  const given = query.get(name);
  if (given === null) return undefined;
  if (given.length === 0 || given.length > 64 || !isStorable(given)) {
    errors.add(name, "must be a number or a short code");
    return undefined;
  }
  return toInboundAddress(restorePlus(given));
}
