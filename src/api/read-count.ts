import type { ErrorCollector } from "../core/field-errors.ts";

export interface CountRule {
  readonly min: number;
  readonly max: number;
  /** The value if the query has none. */
  readonly otherwise: number;
}

/** A whole number in a query; if it is not one, notes that under its name. */
export function readCount(
  query: URLSearchParams,
  { name, rule, errors }: { name: string; rule: CountRule; errors: ErrorCollector },
): number {
  const text = query.get(name);
  if (text === null) return rule.otherwise;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (count >= rule.min && count <= rule.max) return count;
  errors.add(name, `must be a whole number from ${rule.min} to ${rule.max}`);
  return rule.otherwise;
}
