import Type from "typebox";
import { createErrors } from "../../core/field-errors.ts";
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

export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** `isCursor`: whether a text may be a `next` of the list; absent: the UUID of a row. Other texts are refused. */
export function readPage(query: URLSearchParams, isCursor: (text: string) => boolean = isUuid): Page {
  const errors = createErrors();
  const after = query.get("after");
  const limit = readCount(query, { name: "limit", rule: LIMIT, errors });
  if (after !== null && !isCursor(after)) errors.add("after", NO_CURSOR);
  if (!errors.isEmpty()) throw validationFailed(errors.list());
  return { limit, ...(after && { after: after.toLowerCase() }) };
}
