/** Plain text for terminals: aligned, and without control characters that would act on the terminal. */

/** Columns as wide as their widest cell; the last is not padded. */
export function formatTable(heads: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const cells = [heads, ...rows].map((row) => row.map(toCell));
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ""))));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - widthOf(cell))))
      .join("  ")
      .trimEnd(),
  );
  return `${lines.join("\n")}\n`;
}

/** One field per line; the fields of objects are dotted: `config.host`. Absent fields are left out. */
export function formatFields(record: Readonly<Record<string, unknown>>): string {
  const fields = flatten(record, "");
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${toCell(value)}\n`).join("");
}

/** A value on one line; `-` if there is none. */
export function toCell(value: unknown): string {
  if (value === undefined || value === null) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length > 0 ? value.map(toCell).join(", ") : "-";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return text.replaceAll(CONTROLS, (control) => (control === "\n" ? "⏎" : "�"));
}

/** Like `toCell`, for text of several lines: line breaks stay. */
export function toLines(text: string): string {
  return text.split("\n").map(toCell).join("\n");
}

/** The value as JSON, with control characters escaped, so that they do not act on a terminal. */
export function toJson(value: unknown): string {
  return `${JSON.stringify(value)}`.replaceAll(CONTROLS, (control) => {
    return `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

function flatten(record: Readonly<Record<string, unknown>>, prefix: string): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined || value === null) return [];
    const field = `${prefix}${name}`;
    const isObject = typeof value === "object" && !Array.isArray(value);
    if (!isObject) return [[field, value]];
    return flatten(value as Record<string, unknown>, `${field}.`);
  });
}

/** In characters, not UTF-16 units. */
function widthOf(text: string): number {
  return [...text].length;
}
