/** Plain text for terminals: aligned, and without control characters that would act on the terminal. */

/**
 * Columns are as wide as their widest cell; the last is not padded. If lines would be longer than `width`, the last column is
 * broken into several lines, provided that `width` leaves it enough room.
 */
export function formatTable(
  heads: readonly string[],
  rows: readonly (readonly unknown[])[],
  width = Number.POSITIVE_INFINITY,
): string {
  const cells = [heads, ...rows].map((row) => row.map(toCell));
  const widths = heads.map((_, column) => Math.max(...cells.map((row) => widthOf(row[column] ?? ""))));
  const lastStart = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const room = width - lastStart < MIN_ROOM ? Number.POSITIVE_INFINITY : width - lastStart;
  const lines = cells.flatMap((row) => {
    const before = row.slice(0, -1).map((cell, column) => padded(cell, widths[column] ?? 0) + GAP);
    const [first = "", ...more] = linesOf(row.at(-1) ?? "", room);
    return [before.join("") + first, ...more.map((line) => " ".repeat(lastStart) + line)];
  });
  return lines.map((line) => `${line.trimEnd()}\n`).join("");
}

const GAP = "  ";

/** The least width of the last column: in a narrower one text is harder to read than in lines that the terminal breaks. */
const MIN_ROOM = 20;

function padded(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - widthOf(cell)));
}

/** The text in lines of at most `room` columns, broken between words. A longer word has a line of its own. */
function linesOf(text: string, room: number): readonly string[] {
  if (widthOf(text) <= room) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line === "" || widthOf(longer) <= room) {
      line = longer;
      continue;
    }
    lines.push(line);
    line = word;
  }
  return [...lines, line];
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

/** The width in columns of a terminal: an ideograph or emoji takes two, a mark that combines with the letter before it none. */
function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const character of text) {
    if (NO_COLUMN.test(character)) continue;
    width += TWO_COLUMNS.test(character) ? 2 : 1;
  }
  return width;
}

const PLAIN = /^[ -~]*$/;
const NO_COLUMN = /[\p{Mn}\p{Me}\p{Cf}]/u;
/** Roughly the characters that are Wide or Fullwidth in Unicode's East Asian Width (UAX #11). */
const TWO_COLUMNS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u;
