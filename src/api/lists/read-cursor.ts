import Type from "typebox";
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { isUuid } from "../../core/uuid.ts";

export const NO_CURSOR = "must be the `next` of an earlier page";

/** The schema of a cursor in a query. */
export const CURSOR = Type.Optional(Type.String({ description: "`next` of the page before" }));

export interface CursorRule {
  /** The name of the parameter. */
  readonly name: "after" | "cursor";
  /** Whether a text may be a `next` of the list; absent: the UUID of a row. */
  readonly isCursor?: (text: string) => boolean;
  readonly errors: ErrorCollector;
}

/** Where a page goes on; if the query has a text that cannot say it, notes that under its name. */
export function readCursor(
  query: URLSearchParams,
  { name, isCursor = isUuid, errors }: CursorRule,
): string | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!isCursor(text)) errors.add(name, NO_CURSOR);
  return text.toLowerCase();
}
