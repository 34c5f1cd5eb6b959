/** Reads addresses and words as reports about international mail (SMTPUTF8) write them. Pure. */
import { decodedBody, type Entity, fromUtf8 } from "./mime.ts";

const MAX_WORDS_OCTETS = 16 * 1024;

/** What a part says for people. */
export function wordsIn(part: Entity): string {
  return plainWords(decodedBody(part, MAX_WORDS_OCTETS));
}

/** An address as it was sent: it may be in UTF-8, in the form for fields that hold only ASCII (RFC 6533 §3), or in octal. */
export function plainAddress(text: string): string {
  return plainWords(text).replace(CODE_POINT, (escaped, hex: string) => {
    const point = Number.parseInt(hex, 16);
    const isSurrogate = point >= 0xd800 && point <= 0xdfff;
    return point < 0xa0 || point > 0x10ffff || isSurrogate ? escaped : String.fromCodePoint(point);
  });
}

/** `\x{7528}`. */
const CODE_POINT = /\\x\{([0-9A-F]{2,6})\}/gi;

/** Words as they were said: Exim writes octets that are no ASCII in octal (`\347\224\250`), also in Diagnostic-Code. */
export function plainWords(text: string): string {
  return text.replace(OCTAL, (octal) => {
    const octets = octal
      .split("\\")
      .slice(1)
      .map((each) => Number.parseInt(each, 8));
    const read = fromUtf8(Buffer.from(octets).toString("latin1"));
    return read.length < octets.length ? read : octal;
  });
}

/** Whole characters of UTF-8: a leading octet and those that follow it. */
const OCTAL = /(?:\\3[0-7]{2}(?:\\2[0-7]{2}){1,3})+/g;
