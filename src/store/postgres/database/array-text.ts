/** Writes an array as PostgreSQL reads it. Most elements need no quotes, or can be quoted as in JSON, which is fast. */
export function toArrayText(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(toElement).join(",")}}`;
}

function toElement(value: string | number | boolean | null): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !NULL.test(value)) return value;
  // JSON quotes fast, but writes control characters and lone surrogates as escapes, while an array takes them as they are.
  const isPlainJson = !ESCAPED_BY_JSON.test(value) && value.isWellFormed();
  return isPlainJson ? JSON.stringify(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

const PLAIN = /^[\w.:@+-]+$/;
const NULL = /^null$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const ESCAPED_BY_JSON = /[\u0000-\u001f]/;
