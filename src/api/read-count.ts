import type { ErrorCollector } from "../core/field-errors.ts";

export interface CountRule {
  readonly min: number;
  readonly max: number;
  /** Where the query does not say. */
  readonly otherwise: number;
}

/** A whole number of a query; notes under its name what is wrong with it. */
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
