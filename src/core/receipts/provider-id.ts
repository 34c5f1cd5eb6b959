/**
 * The ways in which one and the same id of a message is written: providers change case, drop or add zeros in front,
 * and go from hexadecimal to decimal or back between their answer and their receipt.
 */

/** Longer ones are opaque: a number is not written in so many digits. */
const MAX_DIGITS = 64;

/** What all spellings of an id in one base have in common; the key that ids are looked up by. */
export function foldId(id: string): string {
  return id
    .trim()
    .toUpperCase()
    .replace(/^0+(?=.)/, "");
}

/**
 * Of the ids of one part, as in a `sent` outcome, those that receipts name it by: without the answer's own writing of a
 * number that receipts write in another base.
 */
export function namedByReceipts(ids: readonly string[]): readonly string[] {
  if (ids.length < 2) return ids;
  const last = foldId(ids.at(-1) ?? "");
  return ids.filter((id) => !inOtherRadix(id).includes(last));
}

/** The folded forms that the id would have in another base: read as decimal and as hexadecimal, of whatever size. */
export function inOtherRadix(id: string): readonly string[] {
  const key = foldId(id);
  if (key.length > MAX_DIGITS || !/^[0-9A-F]+$/.test(key)) return [];
  const fromHex = BigInt(`0x${key}`).toString(10);
  const fromDecimal = /^\d+$/.test(key) ? BigInt(key).toString(16).toUpperCase() : key;
  return [...new Set([fromHex, fromDecimal])].filter((form) => form !== key);
}
