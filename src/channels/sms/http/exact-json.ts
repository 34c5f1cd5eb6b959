/** From 16 digits on, an integer may be more than a JavaScript number holds exactly. */
const LONG_NUMBER = /\d{16}/;

/**
 * Parses JSON; `undefined` if the text is not JSON. Integers that a JavaScript number cannot hold exactly become text with the same
 * digits: they are message ids, and rounding could make two of them the same.
 */
export function parseExactJson(text: string): unknown {
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, asWritten) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asWritten(_name: string, value: unknown, ...[context]: readonly { readonly source?: string }[]) {
  const source = context?.source;
  return typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "")
    ? source
    : value;
}

/**
 * A value for `JSON.stringify` that becomes a number with the text's own digits; the text itself if that is no decimal number.
 * JavaScript would also read `12E4`, `0x1F` and a blank as numbers.
 */
export function toExactNumber(text: string): unknown {
  // With `0*` in front of `\d+`, a text of zeros that is no number would be tried with each way to divide them.
  const [, sign = "", digits, fraction] = /^([+-]?)(\d+)(\.\d+)?$/.exec(text) ?? [];
  if (digits === undefined) return text;
  const value = Number(text);
  if (Number.isSafeInteger(value) || fraction !== undefined) return value;
  return rawJSON(`${sign === "-" ? sign : ""}${digits.replace(/^0+(?=\d)/, "")}`);
}

/** Not in the types yet (ECMAScript 2026). */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };
