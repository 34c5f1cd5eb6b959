/** The text of a receipt (SMPP 3.4, appendix B), in the forms in which SMSCs write it. */
import { ESM_UDHI, type ShortMessage, userData } from "../wire/pdu.ts";

/** The keys of appendix B. SMSCs write them in any order and case, and leave some out, so each is searched for separately. */
export const KEYS = ["id", "sub", "dlvrd", "submit date", "done date", "stat", "err"] as const;

/** The values in a text, by key. */
export type TextFields = Partial<Record<(typeof KEYS)[number], string>>;

/**
 * The text of a receipt up to its `text:` key. After that comes the beginning of the message, which is never kept, and could
 * contain a `stat:` too.
 */
export function receiptText(message: ShortMessage): string {
  // Some SMSCs end the text with a NUL, as if it were a C-octet string.
  const text = decodeText(withoutHeader(message), message.dataCoding).replaceAll("\0", " ");
  const end = text.search(/text\s*[:=]/i);
  return end < 0 ? text : text.slice(0, end);
}

export function textFields(text: string): TextFields {
  const standard = STANDARD.exec(text);
  if (standard) return standardFields(standard);
  const fields: TextFields = {};
  for (const [key, pattern] of PATTERNS) {
    const value = pattern.exec(text)?.[1];
    if (value) fields[key] = value;
  }
  const id = fields.id ?? OTHER_NAME_OF_ID.exec(text)?.[1];
  return id === undefined ? fields : { ...fields, id };
}

function withoutHeader(message: ShortMessage): Uint8Array {
  const octets = userData(message);
  const end = message.esmClass & ESM_UDHI ? headerEnd(octets) : 0;
  return octets.subarray(end);
}

/** Where the user data header ends; 0 if there is none: some SMSCs give a receipt the esm_class of the message that it is about. */
function headerEnd(octets: Uint8Array): number {
  const end = 1 + (octets[0] ?? 0);
  let at = 1;
  // Each element has an octet for its kind and one for its length (3GPP TS 23.040 §9.2.3.24).
  while (at < end) at += 2 + (octets[at + 1] ?? octets.length);
  return at === end && end <= octets.length ? end : 0;
}

/** UCS-2 big-endian, in data_coding. */
const UCS2 = 8;

/** How many octets of a text are read. */
const TEXT_OCTETS = 1024;

/**
 * Receipts are written in ASCII or UCS-2, and data_coding does not tell which: some SMSCs write UCS-2 without declaring it, and
 * others write ASCII, but declare UCS-2 because the message was in it. Some write UCS-2 with the lower octet first.
 */
function decodeText(octets: Uint8Array, dataCoding: number): string {
  const plain = (Buffer.isBuffer(octets) ? octets : Buffer.from(octets)).toString("latin1", 0, TEXT_OCTETS);
  const [first, second] = octets;
  const isLowFirst = first !== 0 && (second === 0 || (first === 0xff && second === 0xfe));
  const isUcs2 = isLowFirst || first === 0 || dataCoding === UCS2;
  if (!isUcs2 || /id\s*[:=]/i.test(plain)) return plain;
  const length = Math.min(TEXT_OCTETS, octets.length) & ~1;
  const text = Buffer.from(octets.subarray(0, length));
  return (isLowFirst ? text : text.swap16()).toString("utf16le");
}

/** Matches a text exactly as in appendix B, which most SMSCs write: one match in place of one for each key. */
const STANDARD = new RegExp(`^${KEYS.map((key) => `${key}:([^\\s,;:]+)`).join(" ")} *$`, "i");

/** The values of a match, which are in the order of `KEYS`. */
function standardFields(found: RegExpExecArray): TextFields {
  const [, id = "", sub = "", dlvrd = "", submitDate = "", doneDate = "", stat = "", err = ""] = found;
  return { id, sub, dlvrd, "submit date": submitDate, "done date": doneDate, stat, err };
}

/** A key and the separator before its value: a colon or, with some SMSCs, an equals sign. */
const ANY_KEY = `(?:${KEYS.map(spelled).join("|")}|text)\\s*[:=]`;

/** A value ends at a blank, or before `|` or `&` and the next key. If the next key follows at once, the value is missing. */
const PATTERNS = KEYS.map((key) => [key, patternOf(spelled(key))] as const);

/** Searched for if there is no `id`. */
const OTHER_NAME_OF_ID = patternOf("(?:message|msg)[ _-]?id");

function spelled(key: string): string {
  return key === "stat" ? "stat(?:us)?" : key.replace(" ", "[ _]?");
}

function patternOf(name: string): RegExp {
  const value = `(?!${ANY_KEY})([^\\s,;]+?)(?=$|[\\s,;]|[|&](?:$|${ANY_KEY}))`;
  return new RegExp(`(?:^|[\\s,;|&])${name}\\s*[:=][ \\t]*${value}`, "i");
}
