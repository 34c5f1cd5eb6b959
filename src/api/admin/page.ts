import Type, { type TSchema } from "typebox";
import { isUuid } from "../../core/uuid.ts";
import { validationFailed } from "../errors.ts";

/** The query parameters that every list takes. */
export const PAGE_QUERY = {
  after: Type.Optional(Type.String({ description: "`next` of the page before" })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
} as const;

export interface Page {
  readonly after?: string;
  readonly limit: number;
}

/** `isCursor`: whether a text may be a `next` of the list; absent: the UUID of a row. Other texts are refused. */
export function readPage(query: URLSearchParams, isCursor: (text: string) => boolean = isUuid): Page {
  const after = query.get("after");
  const limit = query.get("limit") ?? String(DEFAULT_LIMIT);
  if (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MAX_LIMIT) {
    throw validationFailed({ limit: `must be from 1 to ${MAX_LIMIT}` });
  }
  if (after !== null && !isCursor(after)) throw validationFailed({ after: NO_CURSOR });
  return { limit: Number(limit), ...(after && { after: after.toLowerCase() }) };
}

export const NO_CURSOR = "must be the `next` of a page before";

/** Reads one more than the page holds: whether there is a next page costs no second query. */
export async function answerPage<Row extends { readonly id: string }>(
  page: Page,
  read: (page: Page) => Promise<readonly Row[]>,
  show: (row: Row) => unknown,
): Promise<Response> {
  const rows = await read({ ...page, limit: page.limit + 1 });
  const shown = rows.slice(0, page.limit);
  const next = rows.length > page.limit ? shown.at(-1)?.id : undefined;
  return Response.json({ data: await Promise.all(shown.map(show)), next });
}

export function pageSchema(row: TSchema): TSchema {
  return Type.Object({
    data: Type.Array(row),
    next: Type.Optional(
      Type.String({ description: "Give it as `after` for the next page; absent on the last" }),
    ),
  });
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
