import { gsm7Length } from "./gsm7.ts";

/**
 * The text with typographic characters replaced by plain ones, if that makes it fit GSM-7; otherwise unchanged. Letters are never
 * changed: a name without its accent is a different name. But a letter and its accent, which some programs write as two characters,
 * become the one that GSM-7 has.
 */
export function transliterate(text: string): string {
  if (gsm7Length(text) !== undefined) return text;
  const plain = text.normalize("NFC").replace(TYPOGRAPHIC, (mark) => PLAIN[mark] ?? mark);
  return gsm7Length(plain) === undefined ? text : plain;
}

/** The characters (grapheme clusters) that force a text into UCS-2 because GSM-7 lacks them, in order, each once. */
export function charactersOutsideGsm7(text: string): readonly string[] {
  return charactersOf(text, (character) => gsm7Length(character) === undefined);
}

/** How many of the characters that force a text into UCS-2 are named. */
export const MAX_FORCING_NAMED = 50;

/** The characters (grapheme clusters) of a text for which `isMeant` is true, in order, each once; at most `limit`. */
export function charactersOf(
  text: string,
  isMeant: (character: string) => boolean,
  limit = Number.POSITIVE_INFINITY,
): readonly string[] {
  const asked = new Set<string>();
  const found: string[] = [];
  for (const { segment } of graphemes.segment(text)) {
    if (asked.has(segment)) continue;
    if (found.length >= limit) break;
    asked.add(segment);
    if (isMeant(segment)) found.push(segment);
  }
  return found;
}

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });

/** Groups of characters, by their code points, each with the text that replaces them. */
const GROUPS: readonly (readonly [plain: string, codePoints: readonly number[]])[] = [
  ["'", [0x2018, 0x2019, 0x201a, 0x201b, 0x2032, 0x02bc, 0x00b4, 0x0060]],
  ['"', [0x201c, 0x201d, 0x201e, 0x201f, 0x2033, 0x00ab, 0x00bb]],
  ["-", [0x2010, 0x2011, 0x2012, 0x2013, 0x2014, 0x2015, 0x2212]],
  ["...", [0x2026]],
  ["Rs.", [0x20b9, 0x20a8]],
  ["<", [0x2039]],
  [">", [0x203a]],
  ["*", [0x2022, 0x2023, 0x00b7, 0x2219]],
  ["x", [0x00d7]],
  ["(C)", [0x00a9]],
  ["(R)", [0x00ae]],
  ["TM", [0x2122]],
  // Tab, no-break spaces, and spaces of other widths.
  [" ", [0x09, 0xa0, 0x202f, 0x205f, 0x3000, ...span(0x2000, 0x200a)]],
  ["\n", [0x2028, 0x2029]],
  // Invisible: zero width, soft hyphen, direction marks, byte order mark.
  ["", [0x00ad, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0x2060, 0xfeff]],
];

const PLAIN: Readonly<Record<string, string>> = Object.fromEntries(
  GROUPS.flatMap(([plain, codePoints]) => codePoints.map((code) => [String.fromCodePoint(code), plain])),
);

const TYPOGRAPHIC = new RegExp(`[${Object.keys(PLAIN).join("")}]`, "gu");

function span(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
