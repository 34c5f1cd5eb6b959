/** More digits than a number here holds. */
const LONG_NUMBER = /\d{16}/;

/**
 * A JSON document; `undefined` for what is none. Whole numbers that no number here can hold are given as the text they
 * are written in: they are ids of messages, and two of them would become the same.
 */
export function parseJson(text: string): unknown {
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
