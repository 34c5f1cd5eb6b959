/**
 * The ways to write the same provider message id. From the answer to the receipt, some providers change its case, drop or add
 * leading zeros, or switch between hexadecimal and decimal.
 */

/** Longer ids are opaque: no number has so many digits. */
const MAX_DIGITS = 64;

/** The id without NULs, and without the blanks and quotes that some providers put around it. Takes linear time, like `foldId`. */
export function bareId(id: string): string {
  const text = id.replaceAll("\0", "");
  const { from, to } = insideQuotes(text, { from: 0, to: text.length });
  return text.slice(from, to);
}

/** Part of a text. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function insideQuotes(text: string, span: Span): Span {
  let { from, to } = span;
  for (;;) {
    while (from < to && isBlank(text[from])) from++;
    while (from < to && isBlank(text[to - 1])) to--;
    const isQuoted = to - from > 2 && /["']/.test(text[from] ?? "") && text[from] === text[to - 1];
    if (!isQuoted) return { from, to };
    from++;
    to--;
  }
}

function isBlank(character = ""): boolean {
  return /\s/.test(character);
}

/** The digits of a number that is marked as hexadecimal, like `0x1F`; `undefined` for anything else. */
export function markedHex(id: string): string | undefined {
  return /^0+x([0-9a-f]+)$/i.exec(id)?.[1];
}

/** The key by which an id is looked up: the same for all spellings of the id in one base. */
export function foldId(id: string): string {
  const text = id.replaceAll("\0", "").toUpperCase();
  let span: Span = { from: 0, to: text.length };
  for (;;) {
    const shorter = withoutZeros(text, withoutHexMark(text, insideQuotes(text, span)));
    if (shorter.from === span.from && shorter.to === span.to) return text.slice(span.from, span.to);
    span = shorter;
  }
}

/** Without the `0X` before a number. */
function withoutHexMark(text: string, { from, to }: Span): Span {
  let mark = from;
  while (mark < to && text[mark] === "0") mark++;
  let end = mark + 1;
  while (end < to && /[0-9A-F]/.test(text[end] ?? "")) end++;
  return text[mark] === "X" && end === to && end > mark + 1 ? { from: mark + 1, to } : { from, to };
}

function withoutZeros(text: string, { from, to }: Span): Span {
  let first = from;
  while (first < to - 1 && text[first] === "0") first++;
  return { from: first, to };
}

/**
 * Those of the ids in a `sent` outcome by which receipts may name the part. If receipts write the number in the other base, the
 * last id has that form, and the form of the answer is left out.
 */
export function namedByReceipts(ids: readonly string[]): readonly string[] {
  if (ids.length < 2) return ids;
  const last = foldId(ids.at(-1) ?? "");
  return ids.filter((id) => !inOtherRadix(id).includes(last));
}

/** The keys that the id would have in the other base: read as decimal, and as hexadecimal. Exact for large numbers too. */
export function inOtherRadix(id: string): readonly string[] {
  const key = foldId(id);
  if (key.length > MAX_DIGITS || !/^[0-9A-F]+$/.test(key)) return [];
  const fromHex = BigInt(`0x${key}`).toString(10);
  const fromDecimal = /^\d+$/.test(key) ? BigInt(key).toString(16).toUpperCase() : key;
  return [...new Set([fromHex, fromDecimal])].filter((form) => form !== key);
}
