/** Texts with placeholders: `{{to}}`, `{{variables.1}}`, `{{validity_seconds|max:36000}}`. */
import { toExactNumber } from "./exact-json.ts";

/** The value of a placeholder; `undefined` if the message has none. */
export type Lookup = (name: string) => string | undefined;

/** Escapes a value as its place in the text requires. */
type Escape = (value: string) => string;

/** The text with its placeholders filled in; `undefined` if one of them has no value. */
export function fillTemplate(template: string, lookup: Lookup, escaped: Escape): string | undefined {
  let isWhole = true;
  const filled = template.replace(PLACEHOLDER, (_, name: string, filters: string) => {
    const value = filtered(lookup(name), filters);
    if (value === undefined || value === "") isWhole = false;
    return value === undefined ? "" : escaped(value);
  });
  return isWhole ? filled : undefined;
}

/**
 * A JSON value with the placeholders in its strings filled in. Members and entries whose placeholder has no value are left out,
 * and so are objects and lists that this leaves empty. `undefined` if nothing is left.
 */
export function fillJson(value: unknown, lookup: Lookup): unknown {
  if (typeof value === "string") {
    const filled = fillTemplate(value, lookup, (one) => one);
    return filled !== undefined && NUMBER.test(value) ? toExactNumber(filled) : filled;
  }
  if (Array.isArray(value)) {
    const kept = value.map((one) => fillJson(one, lookup)).filter((one) => one !== undefined);
    return kept.length > 0 || value.length === 0 ? kept : undefined;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, one]) => [name, fillJson(one, lookup)] as const);
  const kept = members.filter(([, one]) => one !== undefined);
  return kept.length > 0 || members.length === 0 ? Object.fromEntries(kept) : undefined;
}

/** Why a text is not a valid template; `undefined` if it is. `isKnown` tells which placeholders exist. */
export function templateProblem(template: string, isKnown: (name: string) => boolean): string | undefined {
  for (const [, name = "", filters = ""] of template.matchAll(PLACEHOLDER)) {
    if (!isKnown(name)) return `there is no placeholder {{${name}}}`;
    const bad = filtersOf(filters).find((filter) => !isFilter(filter));
    if (bad !== undefined)
      return `${bad} is no filter: there are max:N, min:N, map:a=b,c=d, as:text, default:text, number`;
  }
  return template.replace(PLACEHOLDER, "").includes("{{") ? "a {{ begins no placeholder" : undefined;
}

const PLACEHOLDER = /\{\{\s*([a-z_]+(?:\.[A-Za-z0-9_]+)?)\s*((?:\|[^{}|]*)*)\}\}/g;

/** A string that is a single placeholder with the filter `number`. */
const NUMBER = /^\{\{[^{}]*\|\s*number\s*\}\}$/;

function filtersOf(filters: string): readonly string[] {
  return filters
    .split("|")
    .map((filter) => filter.trim())
    .filter(Boolean);
}

function isFilter(filter: string): boolean {
  return (
    filter === "number" || /^(max|min):\d{1,12}$/.test(filter) || /^(default:.|as:.|map:[^=]+=)/.test(filter)
  );
}

function filtered(value: string | undefined, filters: string): string | undefined {
  return filtersOf(filters).reduce(applyFilter, value);
}

function applyFilter(value: string | undefined, filter: string): string | undefined {
  const colon = filter.indexOf(":");
  const argument = filter.slice(colon + 1);
  if (filter.startsWith("default:")) return value ?? argument;
  if (value === undefined) return undefined;
  if (filter.startsWith("max:")) return bounded(value, Math.min, argument);
  if (filter.startsWith("min:")) return bounded(value, Math.max, argument);
  if (filter.startsWith("map:")) return mapped(value, argument);
  if (filter.startsWith("as:")) return argument;
  return value;
}

/** What is no number stays as it is: a text that was meant to be shortened must not go out as `NaN`. */
function bounded(value: string, choose: (...numbers: number[]) => number, bound: string): string {
  return typeof toExactNumber(value) === "string" ? value : String(choose(Number(value), Number(bound)));
}

/** The value's counterpart in the map; `undefined` if the map does not name the value. */
function mapped(value: string, map: string): string | undefined {
  const pair = map.split(",").find((each) => each.slice(0, each.indexOf("=")) === value);
  return pair?.slice(pair.indexOf("=") + 1);
}
