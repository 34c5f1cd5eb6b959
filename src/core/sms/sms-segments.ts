import { gsm7Length, gsm7UnitLength } from "./gsm7.ts";

export const SMS_ENCODINGS = ["gsm7", "ucs2"] as const;
export type SmsEncoding = (typeof SMS_ENCODINGS)[number];

/** How the parts of a long message are joined: by a user data header with an 8-bit or a 16-bit reference. */
export type ConcatStyle = "udh8" | "udh16";

/**
 * A provider's default alphabet. The provider converts texts from it to GSM-7 for handsets, and replaces characters that GSM-7
 * lacks. So a text that cannot be written in both is sent in UCS-2.
 */
export type DefaultAlphabet = "gsm7" | "ascii" | "latin1";

export interface SmsSegments {
  readonly encoding: SmsEncoding;
  /** The text of each part, at least one. Joined, they are the whole text. */
  readonly parts: readonly string[];
  /** Septets (GSM-7) or UTF-16 units (UCS-2) of the whole text, headers not counted. */
  readonly units: number;
}

/** The header counts the parts in one octet (3GPP TS 23.040 §9.2.3.24.1). */
export const MAX_SEGMENTS = 255;

/** How many septets, or UTF-16 units, fit in 140 octets: alone, and after a header of 6 or 7 octets (3GPP TS 23.040). */
const LIMITS = {
  gsm7: { single: 160, udh8: 153, udh16: 152 },
  ucs2: { single: 70, udh8: 67, udh16: 66 },
} as const;

/**
 * Splits a text into the parts to send: in GSM-7 if both that and the provider's default alphabet have every character, otherwise
 * in UCS-2. No part ends inside a surrogate pair or an escape sequence, nor inside a grapheme cluster, unless that is longer than
 * a part. The same arguments always give the same parts. There may be more than `MAX_SEGMENTS`.
 */
export function segmentSms(
  text: string,
  concat: ConcatStyle = "udh8",
  alphabet: DefaultAlphabet = "gsm7",
): SmsSegments {
  const septets = OUTSIDE[alphabet].test(text) ? undefined : gsm7Length(text);
  const encoding: SmsEncoding = septets === undefined ? "ucs2" : "gsm7";
  const units = septets ?? text.length;
  const limits = LIMITS[encoding];
  if (units <= limits.single) return { encoding, parts: [text], units };
  const parts = encoding === "gsm7" ? splitGsm7(text, limits[concat]) : splitUcs2(text, limits[concat]);
  return { encoding, parts, units };
}

/** How many segments a text of so many units came in at least, where the provider has joined them. */
export function segmentsOfUnits(encoding: SmsEncoding, units: number): number {
  const { single, udh8 } = LIMITS[encoding];
  return units <= single ? 1 : Math.ceil(units / udh8);
}

/** Whether the text needs more than `MAX_SEGMENTS`. For nearly all texts the length alone decides. */
export function isTooLong(text: string): boolean {
  const { length } = text;
  if (length <= MAX_SEGMENTS * LEAST_IN_A_PART) return false;
  if (length > MAX_SEGMENTS * LIMITS.gsm7.udh8) return true;
  if (length > MAX_SEGMENTS * LIMITS.ucs2.udh8 && gsm7Length(text) === undefined) return true;
  return segmentSms(text).parts.length > MAX_SEGMENTS;
}

/** The least average number of UTF-16 units in a part: any two neighbouring UCS-2 parts together hold more than fits in one. */
const LEAST_IN_A_PART = Math.floor(LIMITS.ucs2.udh16 / 2);

/** Finds a character that the alphabet lacks. For GSM-7 it finds nothing: `gsm7Length` does. */
const OUTSIDE: Readonly<Record<DefaultAlphabet, RegExp>> = {
  gsm7: /(?!)/,
  ascii: /[^\0-\x7f]/,
  latin1: /[^\0-\xff]/,
};

/** Splits a text that GSM-7 can write: each of its UTF-16 units is one or two septets. A CR and its LF stay together. */
function splitGsm7(text: string, limit: number): string[] {
  const parts: string[] = [];
  let start = 0;
  let used = 0;
  for (let i = 0; i < text.length; i++) {
    const size = gsm7UnitLength(text.charCodeAt(i));
    if (used + size > limit) {
      const isInsideCrLf = text[i] === "\n" && text[i - 1] === "\r";
      const end = isInsideCrLf ? i - 1 : i;
      parts.push(text.slice(start, end));
      start = end;
      used = i - end;
    }
    used += size;
  }
  parts.push(text.slice(start));
  return parts;
}

function splitUcs2(text: string, limit: number): string[] {
  const parts: string[] = [];
  let part = "";
  for (const piece of unbreakablePieces(text, limit)) {
    if (part.length + piece.length > limit) {
      parts.push(part);
      part = "";
    }
    part += piece;
  }
  parts.push(part);
  return parts;
}

/** The grapheme clusters of a text; one that is longer than a part is yielded as its code points. */
function* unbreakablePieces(text: string, limit: number): Generator<string> {
  for (const { segment } of graphemes.segment(text)) {
    if (segment.length <= limit) yield segment;
    else yield* segment;
  }
}

const graphemes = new Intl.Segmenter("und", { granularity: "grapheme" });
