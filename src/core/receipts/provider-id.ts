/**
 * The ways to write the same provider message id. Between answer and receipt providers change its case, drop or add
 * leading zeros, and switch between hexadecimal and decimal.
 */

/** Longer ids are opaque: no number has so many digits. */
const MAX_DIGITS = 64;

/** The key that ids are looked up by: the same for all spellings of an id in one base. */
export function foldId(id: string): string {
  return id
    .trim()
    .toUpperCase()
    .replace(/^0+(?=.)/, "");
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
