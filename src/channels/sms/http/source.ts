import type { Source } from "./gateway.ts";

/** What a `Source` reads from: an answer, or one report of a callback. */
export interface Readable {
  /** Parsed; `undefined` where the text is no JSON. */
  readonly json: unknown;
  readonly text: string;
  header(name: string): string | undefined;
}

/** More values than any answer means. */
const MAX_VALUES = 5_000;

/** Regular expressions come from the operator, texts from strangers: what they may cost is bounded. */
const MAX_MATCHED = 4_096;

/** All values at a place, as text; numbers and booleans as JSON writes them. */
export function readAll(source: Source, from: Readable): readonly string[] {
  const found = valuesAt(source, from);
  if (source.match === undefined) return found;
  const pattern = new RegExp(source.match);
  return found.flatMap((value) => {
    const match = pattern.exec(value.slice(0, MAX_MATCHED));
    return match ? [match[1] ?? match[0]] : [];
  });
}

/** The first of them. */
export function readFirst(source: Source | undefined, from: Readable): string | undefined {
  return source && readAll(source, from)[0];
}

/** The values a JSON Pointer (RFC 6901) leads to; `*` stands for every entry of a list. */
export function resolvePointer(pointer: string, document: unknown): readonly unknown[] {
  const steps = pointer.split("/").slice(1);
  return steps.reduce<readonly unknown[]>(
    (values, step) => values.flatMap((value) => stepInto(value, step)).slice(0, MAX_VALUES),
    [document],
  );
}

/** Why a source can never be read; `undefined` if it can. */
export function sourceProblem({ json, header, match }: Source): string | undefined {
  if (json !== undefined && header !== undefined) return "reads json or header, not both";
  if (json !== undefined && json !== "" && !json.startsWith("/")) return "json must begin with /";
  if (match === undefined) return json === undefined && header === undefined ? "reads nothing" : undefined;
  try {
    new RegExp(match);
    return undefined;
  } catch {
    return "match is no regular expression";
  }
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
