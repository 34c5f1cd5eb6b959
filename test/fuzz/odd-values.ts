/** Values on which programs fail: strings, field names, numbers, values of other types. */
import type { Chance } from "./chance.ts";

/** Marks, within a value, text that `JSON.stringify` would not write. */
const RAW = "\u{10ffff}raw:";

/** The JSON text of a value, in which marked text stands as it is. */
export function toText(value: unknown): string {
  return JSON.stringify(value).replace(
    new RegExp(`"${RAW}([^"]*)"`, "gu"),
    (_, text: string) => RAWS[text] ?? text,
  );
}

function raw(text: string): string {
  return RAW + text;
}

const nest = (open: string, close: string, depth: number) => `${open.repeat(depth)}0${close.repeat(depth)}`;

/** Raw texts, by a name without quotes. */
const RAWS: Readonly<Record<string, string>> = {
  "deep-array": nest("[", "]", 5_000),
  "deep-object": nest('{"a":', "}", 5_000),
  "64-deep": nest("[", "]", 62),
};

export const ODD_NAMES: readonly string[] = [
  "__proto__", "constructor", "prototype", "toString", "valueOf", "hasOwnProperty", "__defineGetter__", "then",
  "toJSON", "length", "0", "-1", "", " ", ".", "a.b", "$ref", "\0", "\ud800", "\u202eabc", "e\u0301", "ﬁ", "x".repeat(300), "body",
]; // biome-ignore format: names side by side

const ODD_STRINGS: readonly string[] = [
  ...ODD_NAMES, "null", "undefined", "NaN", "true", "-0", "1e3", "\u0000a", "a\u0000", "\udfff", "\ud83d", "😀", "👩‍👩‍👧‍👦",
  `e${"\u0301".repeat(200)}`, "\u200b", "\ufeff", "\u2028", "\r\n", "a\r\nBcc: b@example.com", "İ", "ß", "１２３", "مرحبا", "שלום\u202e",
  "' OR 1=1 --", "%s%n", "%00", "%", "../../etc/passwd", "<script>", "{{7*7}}", "{#var#}", "\\", '"', "=1+1", "\x7f", "\x1b[31m",
  "2026-01-15T12:00:00Z", "2026-02-30T00:00:00Z", "9999-12-31T23:59:59Z", "2026-01-15T12:00:60Z", "+919876543210", "+0", "a@b", "a@[127.0.0.1]",
  '"a b"@example.com', "https://", "https://[::1", "https://a:b@c.invalid/", "https://127.0.0.1/", "HTTPS://hooks.invalid", "https://ｅ.invalid",
  "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
]; // biome-ignore format: strings side by side

const ODD_NUMBERS: readonly unknown[] = [
  0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 1e21, 1e308, 5e-324,
  raw("-0"), raw("1e999"), raw("-1e999"), raw("1E+2"), raw("123456789012345678901234567890"), raw("0.1000000000000000055511151231257827"),
]; // biome-ignore format: numbers side by side

export function oddString(chance: Chance): string {
  const one = chance.pick(ODD_STRINGS);
  if (chance.is(5)) return one.repeat(1 + chance.below(2_000));
  return chance.is(20) ? one + chance.pick(ODD_STRINGS) : one;
}

/** Any JSON value, and some that are not JSON. */
export function oddValue(chance: Chance): unknown {
  const kinds: readonly (() => unknown)[] = [
    () => oddString(chance),
    () => oddString(chance),
    () => chance.pick(ODD_NUMBERS),
    () => null,
    () => chance.is(50),
    () => [],
    () => ({}),
    () => Array.from({ length: chance.below(4) }, () => oddValue(chance)),
    () => oddObject(chance),
    () => raw(chance.pick(Object.keys(RAWS))),
  ];
  return chance.pick(kinds)();
}

/** An object of odd names; `__proto__` is an own field too. */
export function oddObject(chance: Chance): Record<string, unknown> {
  const length = 1 + chance.below(3);
  return Object.fromEntries(Array.from({ length }, () => [chance.pick(ODD_NAMES), oddValue(chance)]));
}
