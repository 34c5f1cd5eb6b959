import Type from "typebox";
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { present } from "../../core/present.ts";
import { NOT_A_TIMESTAMP, parseTimestamp } from "../../core/time/timestamp.ts";
import { restorePlus } from "./restore-plus.ts";

/** A time in a query, in Unix milliseconds; if it is not one, notes that under its name. */
export function readTime(
  query: URLSearchParams,
  { name, errors }: { name: string; errors: ErrorCollector },
): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const at = parseTimestamp(restorePlus(text));
  if (at === undefined) errors.add(name, NOT_A_TIMESTAMP);
  return at;
}

/** The schema of a time in a query. */
export function timeSchema(description?: string) {
  return Type.Optional(Type.String({ format: "date-time", ...present({ description }) }));
}
