import { RE2JS } from "re2js";
import type { Source } from "./gateway.ts";

/** What a `Source` reads from: an answer, or one report of a callback. */
export interface Readable {
  /** The parsed content; `undefined` if it is not JSON. */
  readonly json: unknown;
  readonly text: string;
  header(name: string): string | undefined;
}

/** The most values to read from one answer. No real answer has more. */
const MAX_VALUES = 5_000;

/**
 * The most characters that a pattern is matched against. Patterns come from the operator and texts from strangers, so the time that
 * they take together has to be bounded. RE2 matches them for the same reason: for some texts of a few hundred characters the
 * runtime's own regular expressions take seconds, and nothing can interrupt them.
 */
const MAX_MATCHED = 4_096;

/** All values that a source finds, as text; numbers and booleans as JSON writes them. */
export function readAll(source: Source, from: Readable): readonly string[] {
  const found = valuesAt(source, from);
  if (source.match === undefined) return found;
  const matchIn = matchOf(source, source.match);
  return found.flatMap((value) => matchIn(value.slice(0, MAX_MATCHED)) ?? []);
}

/** What a pattern finds in a text: its first group, or the whole match if it has none; `undefined` for no match. */
type MatchIn = (text: string) => string | undefined;

const matches = new WeakMap<Source, MatchIn>();

/** Compiles a pattern once for each source, since compiling takes longer than matching. */
function matchOf(source: Source, match: string): MatchIn {
  const matchIn = matches.get(source) ?? toMatchIn(match);
  matches.set(source, matchIn);
  return matchIn;
}

function toMatchIn(match: string): MatchIn {
  // A pattern stored before RE2 was required works as it did then: if it found no ids any more, messages would be sent twice.
  if (patternProblem(match) !== undefined) return (text) => firstGroup(new RegExp(match).exec(text));
  const pattern = RE2JS.compile(match);
  return (text) => {
    const matcher = pattern.matcher(text);
    if (!matcher.find()) return undefined;
    return firstGroup([matcher.group(), matcher.groupCount() > 0 ? matcher.group(1) : null]);
  };
}

function firstGroup(found: readonly (string | null | undefined)[] | null): string | undefined {
  return found?.[1] ?? found?.[0] ?? undefined;
}

function patternProblem(match: string): string | undefined {
  try {
    RE2JS.compile(match);
    return undefined;
  } catch (error) {
    return `match is no regular expression that RE2 knows: ${error instanceof Error ? error.message : error}`;
  }
}

/** The first value that a source finds. */
export function readFirst(source: Source | undefined, from: Readable): string | undefined {
  return source && readAll(source, from)[0];
}

/** The values that a JSON Pointer (RFC 6901) leads to, `most` of them; `*` stands for every entry of a list. */
export function resolvePointer(pointer: string, document: unknown, most = MAX_VALUES): readonly unknown[] {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((value) => stepInto(value, step)).slice(0, most),
    [document],
  );
}

/** Why a source can never be read; `undefined` if it can. */
export function sourceProblem({ json, header, match }: Source): string | undefined {
  if (json !== undefined && header !== undefined) return "reads json or header, not both";
  if (json !== undefined && json !== "" && !json.startsWith("/")) return "json must begin with /";
  if (match === undefined) return json === undefined && header === undefined ? "reads nothing" : undefined;
  return patternProblem(match);
}

function valuesAt({ json, header }: Source, from: Readable): readonly string[] {
  if (header !== undefined) return asTexts([from.header(header)]);
  return json === undefined ? [from.text] : asTexts(resolvePointer(json, from.json));
}

function asTexts(values: readonly unknown[]): readonly string[] {
  return values.flatMap((value) => {
    if (typeof value === "string") return [value];
    return typeof value === "number" || typeof value === "boolean" ? [String(value)] : [];
  });
}

function stepInto(value: unknown, step: string): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (step === "*") return Array.isArray(value) ? value : [];
  const name = step.replaceAll("~1", "/").replaceAll("~0", "~");
  return Object.hasOwn(value, name) ? [(value as Record<string, unknown>)[name]] : [];
}
