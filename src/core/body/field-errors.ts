/**
 * Judges request bodies. `parseBody` turns a body into a value, or into all its problems at once: a sentence for each
 * field, under dotted names (`from.email`, `to.3`).
 */
import type { Static, TObject } from "typebox";
import { Compile } from "typebox/schema";
import { describeProblems } from "./describe-problems.ts";

/** Sentences by field name: the `details` of a 400. */
export type FieldErrors = Readonly<Record<string, string>>;

export type Parsed<Value> = { readonly value: Value } | { readonly errors: FieldErrors };

/** A body without the fields that were refused. A refused entry of an array is `undefined`, so that the indexes of others hold. */
export type Valid<T> = unknown extends T
  ? T
  : T extends string | number | boolean
    ? T
    : T extends readonly (infer Entry)[]
      ? readonly (Valid<Entry> | undefined)[]
      : { readonly [Name in keyof T]?: Valid<T[Name]> | undefined };

/** The sentence under the name of an array that has bad entries. */
export type Summary = (bad: number, total: number) => string;

export interface BadEntry {
  readonly index: number;
  readonly total: number;
  /** The field that is wrong, for example `to.3.email`. */
  readonly at: string;
  readonly reason: string;
  /** The sentence for entries that are bad in this way; absent: that of `summarise`. */
  readonly summary?: Summary;
}

export interface ErrorCollector {
  /** Notes a problem; the first one of a field counts. */
  add(field: string, reason: string): void;
  /** A problem of an entry of the array at `field`. */
  addEntry(field: string, entry: BadEntry): void;
  /** Sets the sentence under the array's name for entries without a `summary` of their own. */
  summarise(field: string, summary: Summary): void;
  has(field: string): boolean;
  isEmpty(): boolean;
  list(): FieldErrors;
}

/** Bad entries of one array that are listed; more are only counted. */
const MAX_LISTED_ENTRIES = 20;

/**
 * Judges a body by its schema, and then by `judge`, which is given the fields that the schema accepts (`valid`), so that
 * nothing is reported twice. It reports further problems to `errors`; the value that it returns counts only if there are
 * no problems at all. `null` in an optional field is absent. A good body costs one compiled check.
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

/** A body without the fields that the schema refuses, which are reported to `errors`. */
export function validFields<Schema extends TObject>(
  schema: Schema,
  body: Readonly<Record<string, unknown>>,
  errors: ErrorCollector,
): Valid<Static<Schema>> {
  const valid = validatorOf(schema).Check(body) ? body : describeProblems(schema, body, errors);
  return valid as Valid<Static<Schema>>;
}

export function createErrors(): ErrorCollector {
  return new Problems();
}

/** A class, and maps that are made when first needed: every request has two of these, and most find no problem. */
class Problems implements ErrorCollector {
  private fields: Map<string, string> | undefined;
  private arrays: Map<string, BadEntries> | undefined;
  private summaries: Map<string, Summary> | undefined;

  add(field: string, reason: string): void {
    this.fields ??= new Map();
    if (!this.fields.has(field)) this.fields.set(field, reason);
  }

  addEntry(field: string, { index, total, at, reason, summary }: BadEntry): void {
    this.arrays ??= new Map();
    const array: BadEntries = this.arrays.get(field) ?? { bad: new Map(), ways: new Map(), total };
    this.arrays.set(field, array);
    const problems = array.bad.get(index) ?? [];
    array.bad.set(index, problems);
    problems.push([at, reason]);
    array.ways.set(summary, (array.ways.get(summary) ?? new Set()).add(index));
  }

  summarise(field: string, summary: Summary): void {
    this.summaries ??= new Map();
    this.summaries.set(field, summary);
  }

  has(field: string): boolean {
    return this.fields?.has(field) === true || this.arrays?.has(field) === true;
  }

  isEmpty(): boolean {
    return this.fields === undefined && this.arrays === undefined;
  }

  list(): FieldErrors {
    const listed = new Map(this.fields);
    for (const [field, array] of this.arrays ?? []) {
      if (!listed.has(field)) listed.set(field, this.summaryOf(field, array));
      for (const [at, reason] of firstProblems(array)) if (!listed.has(at)) listed.set(at, reason);
    }
    return Object.fromEntries(listed);
  }

  private summaryOf(field: string, { ways, total }: BadEntries): string {
    return [...ways]
      .map(([summary, { size }]) => (summary ?? this.summaries?.get(field) ?? plainSummary)(size, total))
      .join("; ");
  }
}

type Problem = readonly [at: string, reason: string];

interface BadEntries {
  /** What is wrong with each, by its index. */
  readonly bad: Map<number, Problem[]>;
  /** Indexes of bad entries, by their `summary`. */
  readonly ways: Map<Summary | undefined, Set<number>>;
  readonly total: number;
}

/** The problems of the bad entries that come first in the body, in whatever order they were found. */
function firstProblems({ bad }: BadEntries): readonly Problem[] {
  const inOrder = [...bad].sort(([index], [other]) => index - other);
  return inOrder.slice(0, MAX_LISTED_ENTRIES).flatMap(([, problems]) => problems);
}

function plainSummary(bad: number, total: number): string {
  return `${bad} of ${total} entries ${bad === 1 ? "is" : "are"} invalid`;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

type Validator = { Check(value: unknown): boolean };

const validators = new WeakMap<TObject, Validator>();

/** Compiled at first use, which takes about a millisecond for each schema. */
function validatorOf(schema: TObject): Validator {
  const known = validators.get(schema);
  if (known) return known;
  const validator: Validator = Compile(withoutFormats(schema) as TObject);
  validators.set(schema, validator);
  return validator;
}

/**
 * Formats are for readers of the API's description. Parsers of our own judge what has one: they accept other texts than the
 * patterns of the library, which take seconds for a text of megabytes.
 */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (!isObject(schema)) return schema;
  // A property may be called `format`; then it is a schema.
  const kept = Object.entries(schema).filter(([name, value]) => name !== "format" || isObject(value));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutFormats(value)]));
}
