import Type from "typebox";
import { createErrors, type ErrorCollector } from "../../core/body/field-errors.ts";
import { LIST_ORDERS, type ListOrder } from "../../core/lists/list-order.ts";
import { isUuid } from "../../core/uuid.ts";
import { validationFailed } from "../errors.ts";
import { NO_CURSOR } from "../lists/answer-page.ts";
import { countSchema, readCount } from "../lists/read-count.ts";

const LIMIT = { min: 1, max: 1000, otherwise: 100 };

/** The query parameters that every list takes. */
export const PAGE_QUERY = {
  after: Type.Optional(Type.String({ description: "`next` of the page before" })),
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
  const page = pageOf(query, isUuid, errors);
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return page;
}

/** `isCursor`: whether a text may be a `next` of the list; absent: the UUID of a row. Other texts are refused. */
export function readOrderedPage(
  query: URLSearchParams,
  isCursor: (text: string) => boolean = isUuid,
): OrderedPage {
  const errors = createErrors();
  const page = pageOf(query, isCursor, errors);
  const given = query.get("order") ?? "oldest";
  const order = LIST_ORDERS.find((each) => each === given);
  if (!order) errors.add("order", `must be one of ${LIST_ORDERS.join(", ")}`);
  if (!order || !errors.isEmpty()) throw validationFailed(errors.list());
  return { ...page, order };
}

function pageOf(query: URLSearchParams, isCursor: (text: string) => boolean, errors: ErrorCollector): Page {
  const after = query.get("after");
  const limit = readCount(query, { name: "limit", rule: LIMIT, errors });
  if (after !== null && !isCursor(after)) errors.add("after", NO_CURSOR);
  return { limit, ...(after && { after: after.toLowerCase() }) };
}
