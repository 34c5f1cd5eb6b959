/**
 * Where a text stops being JSON, and what would be right there: `line 3, column 14: expected a value, not "]"`. The runtime's own error
 * gives no place. `undefined` if the text is JSON, or longer than people write.
 */
export function jsonFault(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const open: Container[] = [];
  let wanted: Wanted = "value";
  for (let at = skipBlanks(text, 0); ; at = skipBlanks(text, at)) {
    const end = tokenEnd(text, at);
    if (end === undefined && text[at] === '"') return `${placeOf(text, at)}: ${BAD_STRING}`;
    const next: Wanted | undefined =
      end === undefined ? undefined : after(wanted, { first: text[at] ?? "", open });
    if (end === undefined || next === undefined)
      return `${placeOf(text, at)}: expected ${wordsFor(wanted, open.at(-1))}, not ${foundAt(text, at)}`;
    if (at >= text.length) return undefined;
    wanted = next;
    at = end;
  }
}

/** Reading so many characters takes three milliseconds at most. */
const MAX_LENGTH = 20_000;

type Container = "{" | "[";
type Wanted = "value" | "value or end" | "name" | "name or end" | "colon" | "comma or end";

/** What may follow a token that begins with `first`; `undefined` if it may not stand there. Opens and closes containers. */
function after(wanted: Wanted, { first, open }: { first: string; open: Container[] }): Wanted | undefined {
  const isEnd = first === (open.at(-1) === "{" ? "}" : "]") && open.length > 0;
  if (isEnd && wanted.endsWith("or end")) {
    open.pop();
    return "comma or end";
  }
  switch (wanted) {
    case "name":
    case "name or end":
      return first === '"' ? "colon" : undefined;
    case "colon":
      return first === ":" ? "value" : undefined;
    case "comma or end":
      if (open.length === 0) return first === "" ? "comma or end" : undefined;
      return first === "," ? (open.at(-1) === "{" ? "name" : "value") : undefined;
    default:
      if (first === "{" || first === "[") open.push(first);
      if (first === "{") return "name or end";
      if (first === "[") return "value or end";
      return first === "" || "}],:".includes(first) ? undefined : "comma or end";
  }
}

function wordsFor(wanted: Wanted, container: Container | undefined): string {
  const end = container === "{" ? "}" : "]";
  switch (wanted) {
    case "value":
      return "a value";
    case "value or end":
      return "a value or ]";
    case "name":
      return "a name in double quotes";
    case "name or end":
      return "a name in double quotes or }";
    case "colon":
      return "a colon";
    case "comma or end":
      return container ? `a comma or ${end}` : "nothing more";
  }
}

const BAD_STRING = "a string that does not end, or has a line end or backslash in it that is not escaped";

function placeOf(text: string, at: number): string {
  const lines = text.slice(0, at).split("\n");
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}

function foundAt(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? "the end" : JSON.stringify(String.fromCodePoint(code));
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (" \t\n\r".includes(text[at] ?? "x")) at++;
  return at;
}

const WORD = /(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.+-])/y;

/** The index after the token that begins here; `undefined` if none does. At the end of the text that is the end itself. */
function tokenEnd(text: string, at: number): number | undefined {
  const first = text[at] ?? "";
  if (first === "") return at;
  if ("{}[],:".includes(first)) return at + 1;
  if (first === '"') return stringEnd(text, at);
  WORD.lastIndex = at;
  return WORD.test(text) ? WORD.lastIndex : undefined;
}

function stringEnd(text: string, start: number): number | undefined {
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at] ?? "";
    if (char === '"') return at + 1;
    if (char < " ") return undefined;
    if (char === "\\") {
      if (!ESCAPE.test(text.slice(at, at + 6))) return undefined;
      at++;
    }
  }
  return undefined;
}

const ESCAPE = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;
