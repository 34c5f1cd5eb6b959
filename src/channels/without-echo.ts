/**
 * Peers repeat in their answers what they were sent, such as a password or a text. Their words are logged, shown and put into
 * alarms, so what they repeat is taken out first.
 */

import { OWN_DIGITS, spellingsOfNumber } from "../core/receipts/number-spellings.ts";

export interface Told {
  /** Passwords, keys. */
  readonly secrets: readonly string[];
  /** Texts and numbers. Only a longer run counts as repeated here, since texts contain ordinary words too. */
  readonly content?: readonly string[];
  /** E.164 numbers, which may be repeated without the country, and with blanks or dashes between the digits. */
  readonly numbers?: readonly string[];
}

/** This many equal characters in a row are no coincidence. */
const SECRET_RUN = 6;
const CONTENT_RUN = 12;

/** Values shorter than a run are taken out as a whole, down to this length. Shorter ones occur in too many words. */
const SHORTEST = 4;

/** From this length on, words may have been cut off, perhaps within what they repeat. */
const CUT_FROM = 190;

/** The words with `…` in place of what they repeat, whether plain or encoded as in URLs, JSON, base64 or hexadecimal. */
export function withoutEcho(words: string, { secrets, content = [], numbers = [] }: Told): string {
  const numberless = hasNumber(words) ? numbers.reduce(withoutNumber, words) : words;
  return takeOut(takeOut(numberless, secrets, SECRET_RUN), content, CONTENT_RUN);
}

/** Cheaper than looking for a number: a callback may have thousands of reports. */
function hasNumber(words: string): boolean {
  return words.replace(/\D/g, "").length >= OWN_DIGITS;
}

function withoutNumber(words: string, number: string): string {
  return words.replaceAll(spellingsOfNumber(number), "…");
}

function takeOut(words: string, values: readonly string[], run: number): string {
  const told = values.filter(({ length }) => length >= run).flatMap(formsOf);
  const short = values.filter(({ length }) => length >= SHORTEST && length < run);
  const kept = told.length > 0 ? withoutRuns(words, told, run) : words;
  return short.reduce((text, value) => text.replaceAll(value, "…"), kept);
}

function withoutRuns(words: string, told: readonly string[], run: number): string {
  // No run crosses a line end, since words are on one line.
  const all = `\n${told.join("\n")}\n`;
  let kept = "";
  for (let at = 0; at < words.length; ) {
    const length = repeatedAt(words, at, { all, run });
    kept += length > 0 ? "…" : words[at];
    at += Math.max(1, length);
  }
  return kept;
}

/** How many characters from `at` on repeat what was told; 0 if that is less than a run. */
function repeatedAt(words: string, at: number, { all, run }: { all: string; run: number }): number {
  const left = words.length - at;
  // Where the words were cut off, the beginning of what was told counts, however short.
  if (left < run) return words.length >= CUT_FROM && all.includes(`\n${words.slice(at)}`) ? left : 0;
  let length = run;
  if (!all.includes(words.slice(at, at + length))) return 0;
  while (length < left && all.includes(words.slice(at, at + length + 1))) length++;
  return length;
}

function formsOf(value: string): readonly string[] {
  const octets = Buffer.from(value, "utf8");
  const encoded = encodeURIComponent(value.toWellFormed());
  const utf16 = Buffer.from(value, "utf16le").swap16();
  const hex = [octets, utf16].map((each) => each.toString("hex"));
  return [
    value.replace(/[\p{Cc}\p{Cf}\s]+/gu, " "),
    JSON.stringify(value).slice(1, -1),
    encoded,
    encoded.replaceAll("%20", "+"),
    ...hex,
    ...hex.map((each) => each.toUpperCase()),
    ...[0, 1, 2].flatMap((before) => base64Of(octets, before)),
  ];
}

/** Its base64 after unknown octets, such as a user name: without the characters that depend on those. */
function base64Of(octets: Uint8Array, before: number): readonly string[] {
  const text = Buffer.concat([Buffer.alloc(before), octets])
    .toString("base64")
    .replace(/=+$/, "");
  const own = text.slice(Math.ceil((before * 8) / 6));
  return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
}
