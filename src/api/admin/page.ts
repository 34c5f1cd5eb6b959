import Type from "typebox";
import { createErrors } from "../../core/body/field-errors.ts";
import { LIST_ORDERS, type ListOrder } from "../../core/lists/list-order.ts";
import { present } from "../../core/present.ts";
import { validationFailed } from "../errors.ts";
import { countSchema, readCount } from "../lists/read-count.ts";
import { CURSOR, type CursorRule, readCursor } from "../lists/read-cursor.ts";

const LIMIT = { min: 1, max: 1000, otherwise: 100 };

/** The query parameters that every list takes. */
export const PAGE_QUERY = {
  after: CURSOR,
  limit: countSchema(LIMIT),
} as const;

/** Those of lists that may begin at either end. */
export const ORDERED_PAGE_QUERY = {
  ...PAGE_QUERY,
  order: Type.Optional(
    Type.Enum(LIST_ORDERS, {
      type: "string",
      default: "oldest",
      description: "Which come first; the pages of a list are all read with the same `order`",
    }),
  ),
} as const;

export interface Page {
  readonly after?: string;
  readonly limit: number;
}

export interface OrderedPage extends Page {
  readonly order: ListOrder;
}

/** Refuses an `after` that is not the UUID of a row. */
export function readPage(query: URLSearchParams): Page {
  const errors = createErrors();
  const page = pageOf(query, { errors });
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return page;
}

/** Refuses an `after` that cannot be of the list; see `CursorRule`. */
export function readOrderedPage(query: URLSearchParams, isCursor?: CursorRule["isCursor"]): OrderedPage {
  const errors = createErrors();
  const page = pageOf(query, { errors, ...present({ isCursor }) });
  const given = query.get("order") ?? "oldest";
  const order = LIST_ORDERS.find((each) => each === given);
  if (!order) errors.add("order", `must be one of ${LIST_ORDERS.join(", ")}`);
  if (!order || !errors.isEmpty()) throw validationFailed(errors.list());
  return { ...page, order };
}

function pageOf(query: URLSearchParams, rule: Omit<CursorRule, "name">): Page {
  const limit = readCount(query, { name: "limit", rule: LIMIT, errors: rule.errors });
  return { limit, ...present({ after: readCursor(query, { name: "after", ...rule }) }) };
}
