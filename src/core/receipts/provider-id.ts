/**
 * The ways to write the same provider message id. Between answer and receipt providers change its case, drop or add
 * leading zeros, and switch between hexadecimal and decimal.
 */

/** Longer ids are opaque: no number has so many digits. */
const MAX_DIGITS = 64;

/** The id itself, without what some providers put around it: blanks, NULs, quotes. */
export function bareId(id: string): string {
  const bare = id.replaceAll("\0", "").trim();
  const inQuotes = /^(["'])(.+)\1$/s.exec(bare)?.[2];
  return inQuotes === undefined ? bare : bareId(inQuotes);
}

/** The digits of a number that is marked as hexadecimal, like `0x1F`; `undefined` for anything else. */
export function markedHex(id: string): string | undefined {
  return /^0+x([0-9a-f]+)$/i.exec(id)?.[1];
}

/** The key that ids are looked up by: the same for all spellings of an id in one base. */
export function foldId(id: string): string {
  const folded = bareId(id)
    .toUpperCase()
    .replace(/^0*X(?=[0-9A-F]+$)/, "")
    .replace(/^0+(?=.)/, "");
  return folded === id ? id : foldId(folded);
}

/**
 * Those of a part's ids (as in a `sent` outcome) that receipts name it by: without the form in the answer, if receipts
 * write that number in another base.
 */
export function namedByReceipts(ids: readonly string[]): readonly string[] {
  if (ids.length < 2) return ids;
  const last = foldId(ids.at(-1) ?? "");
  return ids.filter((id) => !inOtherRadix(id).includes(last));
}

/** The keys that the id would have in the other base, read as decimal and as hexadecimal, whatever its size. */
export function inOtherRadix(id: string): readonly string[] {
  const key = foldId(id);
  if (key.length > MAX_DIGITS || !/^[0-9A-F]+$/.test(key)) return [];
  const fromHex = BigInt(`0x${key}`).toString(10);
  const fromDecimal = /^\d+$/.test(key) ? BigInt(key).toString(16).toUpperCase() : key;
  return [...new Set([fromHex, fromDecimal])].filter((form) => form !== key);
}
