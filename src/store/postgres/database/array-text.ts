/** An array as PostgreSQL reads one. Most elements need no quotes, or none but those of JSON, and cost little. */
export function toArrayText(values: readonly (string | number | boolean | null)[]): string {
  return `{${values.map(toElement).join(",")}}`;
}

function toElement(value: string | number | boolean | null): string {
  if (value === null) return "NULL";
  if (typeof value !== "string") return String(value);
  if (PLAIN.test(value) && !NULL.test(value)) return value;
  // As JSON has it, which is quickly made; but that spells in letters what an array holds as it is.
  const isPlainJson = !SPELLED.test(value) && value.isWellFormed();
  return isPlainJson ? JSON.stringify(value) : `"${value.replace(/["\\]/g, "\\$&")}"`;
}

const PLAIN = /^[\w.:@+-]+$/;
const NULL = /^null$/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const SPELLED = /[\u0000-\u001f]/;
