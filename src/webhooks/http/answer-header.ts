/** What webhooks need of an answer's status line and header (RFC 9112 §4, §5). */
export interface AnswerHeader {
  readonly status: number;
  /** As it was sent. */
  readonly retryAfter?: string;
  /** How the body ends (RFC 9112 §6.3); a number is its length in octets. */
  readonly framing: "none" | "chunked" | "close" | number;
  /** Whether the server takes more requests over this connection. */
  readonly isPersistent: boolean;
}

/** `undefined` if the text is not HTTP/1.x, or gives different lengths. */
export function parseAnswerHeader(text: string): AnswerHeader | undefined {
  const [first = "", ...lines] = text.trimEnd().replace(FOLD, " ").split(/\r?\n/);
  const [, minor, status] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first) ?? [];
  const fields = parseFields(lines);
  if (status === undefined || !fields) return undefined;
  const framing = framingOf(Number(status), fields);
  if (framing === undefined) return undefined;
  const retryAfter = fields.get("retry-after");
  return {
    status: Number(status),
    ...(retryAfter !== undefined && { retryAfter }),
    framing,
    isPersistent: minor === "1" && isPersistent(fields) && !(framing === "none" && hasBody(fields)),
  };
}

/** A line break within a field: obsolete, and read as a blank (RFC 9112 §5.2). */
const FOLD = /\r?\n[ \t]+/g;

/** The index after the header's empty line, searched from `from` on; -1 if it has not come. Lines may end without CR (RFC 9112 §2.2). */
export function endOfHeader(text: string, from: number): number {
  const emptyLine = /\n\r?\n/g;
  emptyLine.lastIndex = from;
  return emptyLine.test(text) ? emptyLine.lastIndex : -1;
}

type Fields = ReadonlyMap<string, string>;

/** By name. Repeated fields become one list (RFC 9110 §5.3), but of several Retry-After the first counts. */
function parseFields(lines: readonly string[]): Fields | undefined {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!TOKEN.test(name)) return undefined;
    const value = line.slice(colon + 1).trim();
    const before = fields.get(name);
    if (before === undefined) fields.set(name, value);
    else if (name !== "retry-after") fields.set(name, `${before},${value}`);
  }
  return fields;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/;

function framingOf(status: number, fields: Fields): AnswerHeader["framing"] | undefined {
  if (status < 200 || status === 204 || status === 304) return "none";
  const coding = fields.get("transfer-encoding");
  if (coding !== undefined) return /(^|[\s,])chunked$/i.test(coding) ? "chunked" : "close";
  const length = fields.get("content-length");
  if (length === undefined) return "close";
  const [first = "", ...others] = length.split(",").map((each) => each.trim());
  return /^\d{1,15}$/.test(first) && others.every((other) => other === first) ? Number(first) : undefined;
}

/** Whether a body is announced. Where an answer has none by its status, some servers send it all the same, perhaps later. */
function hasBody(fields: Fields): boolean {
  return fields.has("transfer-encoding") || Number(fields.get("content-length") ?? "0") !== 0;
}

/** False if there are two framings at once: then it is not certain where the next answer begins (RFC 9112 §6.3). */
function isPersistent(fields: Fields): boolean {
  if (fields.has("transfer-encoding") && fields.has("content-length")) return false;
  return !fields.has("upgrade") && !/\bclose\b/i.test(fields.get("connection") ?? "");
}
