import type { FieldErrors } from "../../core/body/field-errors.ts";
import { isObject } from "../../core/body/is-object.ts";
import { jsonFault } from "../../core/body/json-fault.ts";
import { parseJson } from "../../core/body/parse-json.ts";

export type ParsedJson =
  | { readonly json: Readonly<Record<string, unknown>> }
  | { readonly problem: FieldErrors };

/**
 * Parses a body that must be a JSON object. Besides invalid JSON it refuses duplicate names (two readers of the same body
 * could see different requests), `__proto__`, nesting so deep that recursion could exhaust the stack, and so many values that
 * checking them, or passing them to another thread, would take seconds.
 */
export function parseJsonObject(text: string): ParsedJson {
  const isLong = text.length > MAX_VALUES * MIN_VALUE_LENGTH;
  if (isLong && hasTooManyCommas(text)) return problem(TOO_MANY);
  const json = parseJson(text);
  if (json === undefined) return problem(notJson(text));
  if (!isObject(json)) return problem("must be a JSON object");
  const names = countNames(json, 0);
  if (names === FORBIDDEN) return problem("must not contain the name __proto__");
  if (names === TOO_DEEP) return problem(`must not be nested deeper than ${MAX_DEPTH} levels`);
  if (isLong && roomAfter(json, MAX_VALUES) < 0) return problem(TOO_MANY);
  return names === countWrittenNames(text) || !hasDuplicateNames(text)
    ? { json }
    : problem("must not contain a name twice in one object");
}

const MAX_DEPTH = 64;
/**
 * Objects and arrays count too. More than any request needs: the longest metadata has 8,000, and a batch 1,000 numbers. Checking
 * a body of so many, and passing it to another thread, takes 20 ms, in which no other request is answered.
 */
const MAX_VALUES = 15_000;
/** The shortest value, with the comma that separates it from the next: `1,`. */
const MIN_VALUE_LENGTH = 2;
const TOO_MANY = `must not contain more than ${MAX_VALUES} values`;
const FORBIDDEN = -1;
const TOO_DEEP = -2;

function notJson(text: string): string {
  const fault = jsonFault(text);
  return fault === undefined ? "must be valid JSON" : `must be valid JSON; ${fault}`;
}

function problem(sentence: string): ParsedJson {
  return { problem: { body: sentence } };
}

/** Counting commas finds most texts with too many values before they are parsed: parsing megabytes of them takes seconds. */
function hasTooManyCommas(text: string): boolean {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at) - 1;
    else if (code === COMMA && ++count >= MAX_VALUES) return true;
  }
  return false;
}

/** How many more values there may be after this one and all that are in it; negative if these are too many already. */
function roomAfter(value: unknown, room: number): number {
  if (typeof value !== "object" || value === null) return room - 1;
  let left = room - 1;
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (left < 0) break;
    left = roomAfter(member, left);
  }
  return left;
}

/** The number of names in all objects of a value, or `FORBIDDEN`, or `TOO_DEEP`. */
function countNames(value: object, depth: number): number {
  if (depth > MAX_DEPTH) return TOO_DEEP;
  if (Array.isArray(value)) return countInArray(value, depth);
  // `for…in` is twice as slow for names that are numbers, such as those of template variables.
  const names = Object.keys(value);
  let count = names.length;
  for (const name of names) {
    if (name === "__proto__") return FORBIDDEN;
    const member: unknown = (value as Record<string, unknown>)[name];
    if (typeof member !== "object" || member === null) continue;
    const inner = countNames(member, depth + 1);
    if (inner < 0) return inner;
    count += inner;
  }
  return count;
}

function countInArray(entries: readonly unknown[], depth: number): number {
  let count = 0;
  for (const entry of entries) {
    if (typeof entry !== "object" || entry === null) continue;
    const inner = countNames(entry, depth + 1);
    if (inner < 0) return inner;
    count += inner;
  }
  return count;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const SPACE = 0x20;

/**
 * Counts colons that follow a quote. Every name has one, and text inside a string may look like one (`"a\":b"`), so this
 * is at least the number of names written. If the parser returned as many, it has not overwritten any; this costs a fifth
 * of a microsecond. Otherwise `hasDuplicateNames` decides.
 */
function countWrittenNames(text: string): number {
  let count = 0;
  for (let at = text.indexOf(":"); at !== -1; at = text.indexOf(":", at + 1)) {
    let before = at - 1;
    while (text.charCodeAt(before) <= SPACE) before--;
    if (text.charCodeAt(before) === QUOTE) count++;
  }
  return count;
}

/** Walks the text of valid JSON. `open`: for each open object the names seen in it, for each open array `undefined`. */
function hasDuplicateNames(text: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "{") open.push(new Set());
    else if (char === "[") open.push(undefined);
    else if (char === "}" || char === "]") open.pop();
    if (char !== '"') continue;
    const end = stringEnd(text, at);
    if (isName(text, end) && isRepeated(open.at(-1), text.slice(at, end))) return true;
    at = end - 1;
  }
  return false;
}

/** Whether the object has the name already; adds it. `written`: the name with its quotes and escapes. */
function isRepeated(names: Set<string> | undefined, written: string): boolean {
  const name = String(JSON.parse(written));
  if (names?.has(name)) return true;
  names?.add(name);
  return false;
}

/** The index after the closing quote of the string that opens at `start`; beyond the text if it is not closed. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (text.charCodeAt(at) <= SPACE) at++;
  return text[at] === ":";
}
