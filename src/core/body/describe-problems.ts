/**
 * The slow half of checking a body: finds and words the problems of a body that a compiled schema has refused. It knows
 * only the keywords of JSON Schema that our bodies use. Lengths are code points, as in JSON Schema.
 */
import type { TSchema } from "typebox";
import type { ErrorCollector } from "./field-errors.ts";
import { isLonger } from "./text-rules.ts";

/**
 * Reports every field of `body` that `schema` refuses, once, and returns the body without those fields and
 * without nulls in optional ones.
 */
export function describeProblems(
  schema: TSchema,
  body: Readonly<Record<string, unknown>>,
  errors: ErrorCollector,
): Record<string, unknown> {
  const report: Report = (field, reason) => errors.add(field, reason);
  return validObject(schema, body, { field: "", report, errors });
}

type Report = (field: string, reason: string) => void;

interface Place {
  /** Dotted; empty at the top. */
  readonly field: string;
  readonly report: Report;
  readonly errors: ErrorCollector;
}

/** The keywords that body schemas use. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  /** Of a map. Its names are judged elsewhere. */
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly maxProperties?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** Values that fit the pattern. An error message shows one, because a caller understands it sooner than a pattern. */
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
}

/** The value without what was refused in it; `undefined` if it was refused itself. */
function validValue(given: Schema, value: unknown, place: Place): unknown {
  const schema = choiceOf(given) ?? given;
  const branch = schema.anyOf ? schema.anyOf.find((one) => isOfType(one, value)) : schema;
  if (!branch || !isOfType(branch, value)) {
    place.report(place.field, typeProblem(schema, value));
    return undefined;
  }
  if (branch.type === "object") return validObject(branch, value as Record<string, unknown>, place);
  if (branch.type === "array") return validArray(branch, value as readonly unknown[], place);
  const problem = scalarProblem(branch, value);
  if (problem === undefined) return value;
  place.report(place.field, problem);
  return undefined;
}

/** One of several constants; `undefined`: the schema is no such choice. */
function choiceOf({ anyOf = [] }: Schema): Schema | undefined {
  const isChoice = anyOf.length > 0 && anyOf.every((one) => one.const !== undefined);
  return isChoice ? { enum: anyOf.map((one) => one.const) } : undefined;
}

function validObject(
  schema: Schema,
  value: Readonly<Record<string, unknown>>,
  place: Place,
): Record<string, unknown> {
  const valid: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    const field = place.field === "" ? name : `${place.field}.${name}`;
    const given = Object.hasOwn(value, name) ? value[name] : undefined;
    const kept = validMember(member, given, {
      place: { ...place, field },
      isRequired: schema.required?.includes(name) ?? false,
    });
    if (kept !== undefined) valid[name] = kept;
  }
  const [ofMap] = Object.values(schema.patternProperties ?? {});
  const others = ofMap ?? schema.additionalProperties;
  if (others === true) return { ...value, ...valid };
  return typeof others === "object" ? { ...validMap(others, value, { schema, place }), ...valid } : valid;
}

function validMember(
  schema: Schema,
  given: unknown,
  { place, isRequired }: { place: Place; isRequired: boolean },
): unknown {
  const isAbsent = given === undefined || given === null;
  if (isAbsent && !isRequired) return undefined;
  if (isAbsent || (isRequired && given === "")) {
    reportMissing(schema, place);
    return undefined;
  }
  return validValue(schema, given, place);
}

/** A missing object reports itself and its required children. */
function reportMissing(schema: Schema, place: Place): void {
  place.report(place.field, "required");
  for (const name of schema.required ?? []) {
    const child = schema.properties?.[name];
    if (child) reportMissing(child, { ...place, field: `${place.field}.${name}` });
  }
}

/** The members of an object whose names are free and whose values have one schema. */
function validMap(
  kind: Schema,
  value: Readonly<Record<string, unknown>>,
  { schema, place }: { schema: Schema; place: Place },
): Record<string, unknown> {
  const entries = Object.entries(value);
  if (schema.maxProperties !== undefined && entries.length > schema.maxProperties) {
    place.report(place.field, `must have at most ${schema.maxProperties} entries`);
    return {};
  }
  const kept = entries.map(([name, one]) => {
    const field = `${place.field}.${shortened(name)}`;
    return [name, validMember(kind, one, { place: { ...place, field }, isRequired: false })] as const;
  });
  return Object.fromEntries(kept.filter(([, one]) => one !== undefined));
}

function validArray(schema: Schema, value: readonly unknown[], place: Place): unknown {
  const problem = countProblem(schema, value.length);
  if (problem) {
    place.report(place.field, problem);
    return undefined;
  }
  const items = schema.items;
  if (!items) return value;
  return value.map((entry, index) => {
    const report: Report = (at, reason) =>
      place.errors.addEntry(place.field, { index, total: value.length, at, reason });
    return validValue(items, entry, { field: `${place.field}.${index}`, report, errors: place.errors });
  });
}

function countProblem({ minItems = 0, maxItems = Infinity }: Schema, count: number): string | undefined {
  if (count >= minItems && count <= maxItems) return undefined;
  if (minItems === 0) return `must have at most ${maxItems} entries`;
  return maxItems === Infinity ? "must not be empty" : `must have ${minItems} to ${maxItems} entries`;
}

function scalarProblem(schema: Schema, value: unknown): string | undefined {
  if (schema.enum && !schema.enum.includes(value)) {
    return `must be one of ${schema.enum.join(", ")}`;
  }
  if (typeof value === "number") return rangeProblem(schema, value);
  return typeof value === "string"
    ? (lengthProblem(schema, value) ?? patternProblem(schema, value))
    : undefined;
}

function rangeProblem(
  { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity }: Schema,
  value: number,
): string | undefined {
  if (value <= exclusiveMinimum) return `must be more than ${exclusiveMinimum}`;
  if (value >= minimum && value <= maximum) return undefined;
  if (minimum === -Infinity) return `must be at most ${maximum}`;
  return maximum === Infinity ? `must be at least ${minimum}` : `must be from ${minimum} to ${maximum}`;
}

function lengthProblem({ minLength = 0, maxLength = Infinity }: Schema, text: string): string | undefined {
  if (text.length < minLength) return "must not be empty";
  return isLonger(text, maxLength) ? `must be at most ${maxLength} characters` : undefined;
}

function patternProblem({ pattern, examples }: Schema, text: string): string | undefined {
  if (pattern === undefined || new RegExp(pattern, "u").test(text)) return undefined;
  const beginning = PLAIN_BEGINNING.exec(pattern)?.[1];
  if (beginning !== undefined) return `must start with ${beginning}`;
  return examples ? `must look like ${examples.join(" or ")}` : `must match ${pattern}`;
}

/** A pattern that asks for how a text begins, and for nothing else. */
const PLAIN_BEGINNING = /^\^([\w:/-]+)$/;

function isOfType(schema: Schema, value: unknown): boolean {
  switch (schema.type) {
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isInteger(value);
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      // No type: any value, or one of `enum`, which is judged afterwards.
      return true;
  }
}

/** `1e400` is a number in JSON, and infinite once it is read. */
function typeProblem(schema: Schema, value: unknown): string {
  const takesNumbers = (schema.anyOf ?? [schema]).some(({ type }) => type === "number" || type === "integer");
  const isTooLarge = takesNumbers && typeof value === "number" && !Number.isFinite(value);
  return isTooLarge ? "is too large a number" : `must be ${expectation(schema)}`;
}

/** `a string`, `an array of strings`, `a string or a number`, `one of apns, fcm, web`. */
function expectation(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(expectation).join(" or ");
  if (schema.enum) return `one of ${schema.enum.join(", ")}`;
  if (schema.type === "array") {
    const kind = schema.items?.type;
    return kind ? `an array of ${kind}s` : "an array";
  }
  return schema.type === "integer" || schema.type === "object" ? `an ${schema.type}` : `a ${schema.type}`;
}

/** A name that comes from the request and is shown in the answer: not too long, and no half of a surrogate pair. */
function shortened(name: string): string {
  return (name.length > 64 ? `${name.slice(0, 64)}…` : name).toWellFormed();
}
