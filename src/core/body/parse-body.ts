/** Turns a request body into a value, or into all its problems at once. */
import type { Static, TObject } from "typebox";
import { Compile } from "typebox/schema";
import { describeProblems } from "./describe-problems.ts";
import { createErrors, type ErrorCollector, type FieldErrors } from "./field-errors.ts";
import { isObject } from "./is-object.ts";

export type Parsed<Value> = { readonly value: Value } | { readonly errors: FieldErrors };

/** What is left of a body without its refused fields. A refused entry of an array is `undefined`, so that the others keep their indexes. */
export type Valid<T> = unknown extends T
  ? T
  : T extends string | number | boolean
    ? T
    : T extends readonly (infer Entry)[]
      ? readonly (Valid<Entry> | undefined)[]
      : { readonly [Name in keyof T]?: Valid<T[Name]> | undefined };

/**
 * Checks a body against its schema, then calls `judge` with the fields that passed (`valid`), so that no field is reported
 * twice. `judge` adds what the schema cannot express to `errors`, and returns the value, which is dropped if there is any
 * problem at all. `null` in an optional field counts as absent. A good body costs one compiled check.
 */
export function parseBody<Schema extends TObject, Value>(
  schema: Schema,
  body: unknown,
  judge: (valid: Valid<Static<Schema>>, errors: ErrorCollector) => Value,
): Parsed<Value> {
  if (!isObject(body)) return { errors: NOT_AN_OBJECT };
  const errors = createErrors();
  const value = judge(validFields(schema, body, errors), errors);
  return errors.isEmpty() ? { value } : { errors: errors.list() };
}

export const NOT_AN_OBJECT: FieldErrors = { body: "must be a JSON object" };

/** The body without the fields that the schema refuses; reports those to `errors`. */
export function validFields<Schema extends TObject>(
  schema: Schema,
  body: Readonly<Record<string, unknown>>,
  errors: ErrorCollector,
): Valid<Static<Schema>> {
  const valid = validatorOf(schema).Check(body) ? body : describeProblems(schema, body, errors);
  return valid as Valid<Static<Schema>>;
}

type Validator = { Check(value: unknown): boolean };

const validators = new WeakMap<TObject, Validator>();

/** Compiles a schema at its first use, which takes about a millisecond. */
function validatorOf(schema: TObject): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const validator: Validator = Compile(withoutFormats(schema) as TObject);
  validators.set(schema, validator);
  return validator;
}

/**
 * The schema without `format`, which only informs readers of the API reference. Our own parsers judge such fields: the
 * library's patterns accept other texts, and take seconds for a text of megabytes.
 */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (!isObject(schema)) return schema;
  // A property may be called `format`; then it is a schema.
  const kept = Object.entries(schema).filter(([name, value]) => name !== "format" || isObject(value));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutFormats(value)]));
}
