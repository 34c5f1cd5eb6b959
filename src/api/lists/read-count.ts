import Type from "typebox";
import type { ErrorCollector } from "../../core/body/field-errors.ts";
import { present } from "../../core/present.ts";

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
  errors.add(name, countProblem(rule));
  return rule.otherwise;
}

/** What is wrong with a number that the rule does not allow. */
export function countProblem({ min, max }: Pick<CountRule, "min" | "max">): string {
  return `must be a whole number from ${min} to ${max}`;
}

/** The schema of a number in a query. */
export function countSchema({ min, max, otherwise }: CountRule, description?: string) {
  const limits = { minimum: min, maximum: max, default: otherwise };
  return Type.Optional(Type.Integer({ ...limits, ...present({ description }) }));
}
