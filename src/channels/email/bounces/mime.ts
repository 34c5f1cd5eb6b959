/**
 * As much of MIME (RFC 2045, 2046) as it takes to find the parts of a report. Never fails: a malformed mail has fewer
 * parts. Takes time linear in the text; parts and headers beyond the limits are not read.
 */
export interface Entity {
  /** By name in lower case: the values in order, unfolded, trimmed. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** As it came, a character for each octet. */
  readonly body: string;
}

const MAX_HEADER_OCTETS = 256 * 1024;
const MAX_HEADERS = 1_000;
const MAX_PARTS = 64;
const MAX_DEPTH = 5;

/** `text`: a character for each octet (latin1), with any line ends. */
export function parseEntity(text: string): Entity {
  // An entity without any header begins with the empty line.
  if (/^\r?\n/.test(text)) return { headers: new Map(), body: text.replace(/^\r?\n/, "") };
  const head = text.slice(0, MAX_HEADER_OCTETS);
  const end = /\r?\n\r?\n/.exec(head);
  if (!end) return { headers: parseHeaders(head), body: "" };
  return { headers: parseHeaders(head.slice(0, end.index)), body: text.slice(end.index + end[0].length) };
}

function parseHeaders(section: string): Map<string, string[]> {
  const headers = new Map<string, string[]>();
  const lines = section.split(/\r?\n/);
  let count = 0;
  let current: string[] = [];
  for (const line of lines) {
    if (/^[ \t]/.test(line)) {
      const last = current.length - 1;
      if (last >= 0 && (current[last]?.length ?? 0) < MAX_VALUE) current[last] += ` ${line.trim()}`;
      continue;
    }
    const colon = line.indexOf(":");
    if (colon < 1 || ++count > MAX_HEADERS) continue;
    const name = line.slice(0, colon).trim().toLowerCase();
    current = headers.get(name) ?? [];
    headers.set(name, current);
    current.push(line.slice(colon + 1, colon + 1 + MAX_VALUE).trim());
  }
  return headers;
}

/** Characters kept of a header's value. */
const MAX_VALUE = 16 * 1024;

export function header(entity: Entity, name: string): string {
  return entity.headers.get(name)?.[0] ?? "";
}

/** In lower case, `text/plain` where it is missing (RFC 2045 §5.2). */
export function mediaType(entity: Entity): string {
  return /^\s*([\w.+-]+\/[\w.+-]+)/.exec(header(entity, "content-type"))?.[1]?.toLowerCase() ?? "text/plain";
}

/** The entity and all parts in it, depth first, without those of quoted messages. */
export function* walk(entity: Entity, depth = 0, seen = { count: 0 }): Generator<Entity> {
  if (++seen.count > MAX_PARTS) return;
  yield entity;
  if (depth >= MAX_DEPTH || !mediaType(entity).startsWith("multipart/")) return;
  for (const part of partsOf(entity)) yield* walk(part, depth + 1, seen);
}

function* partsOf(entity: Entity): Generator<Entity> {
  const boundary = boundaryOf(header(entity, "content-type"));
  if (boundary === undefined) return;
  const text = `\n${entity.body}`;
  const mark = `\n--${boundary}`;
  let from = markFrom(text, mark, 0);
  for (let count = 0; from !== -1 && count < MAX_PARTS; count++) {
    const lineEnd = text.indexOf("\n", from + mark.length);
    const isLast = text.startsWith("--", from + mark.length);
    if (isLast || lineEnd === -1) return;
    const next = markFrom(text, mark, lineEnd);
    yield parseEntity(text.slice(lineEnd + 1, next === -1 ? text.length : next).replace(/\r$/, ""));
    from = next;
  }
}

/** Where the next delimiter line begins, or -1. A line that continues with other letters belongs to another boundary. */
function markFrom(text: string, mark: string, from: number): number {
  let at = text.indexOf(mark, from);
  while (at !== -1 && !/^(?:--|[\s]|$)/.test(text.slice(at + mark.length, at + mark.length + 2))) {
    at = text.indexOf(mark, at + 1);
  }
  return at;
}

function boundaryOf(contentType: string): string | undefined {
  const found = /\bboundary\s*=\s*(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType);
  return found?.[1] ?? found?.[2];
}

/** Whether the body is other text until it is decoded. Never that of a multipart (RFC 2045 §6.4), whose parts are. */
export function isEncoded(entity: Entity): boolean {
  const isLeaf = !mediaType(entity).startsWith("multipart/");
  return isLeaf && ["base64", "quoted-printable"].includes(encodingOf(entity));
}

function encodingOf(entity: Entity): string {
  return header(entity, "content-transfer-encoding").toLowerCase();
}

/** The body, decoded, at most `max` octets of it. Lines that are no UTF-8 have a character for each octet. */
export function decodedBody(entity: Entity, max: number): string {
  return fromUtf8(decodedOctets(entity, max));
}

/** The same, but with a character for each octet throughout. */
export function decodedOctets(entity: Entity, max: number): string {
  const encoding = encodingOf(entity);
  if (encoding === "base64") {
    // A quarter of base64 is overhead, and line ends come on top.
    const text = entity.body.slice(0, max * 2);
    return Buffer.from(text, "base64").toString("latin1").slice(0, max);
  }
  const body = entity.body.slice(0, max * (encoding === "quoted-printable" ? 3 : 1));
  return (encoding === "quoted-printable" ? fromQuotedPrintable(body) : body).slice(0, max);
}

/** A text with a character for each octet: each line by itself is read as UTF-8, if it is UTF-8. What it quotes may be anything. */
export function fromUtf8(text: string): string {
  return HIGH_OCTET.test(text) ? text.split("\n").map(lineFromUtf8).join("\n") : text;
}

function lineFromUtf8(line: string): string {
  if (!HIGH_OCTET.test(line) || NO_OCTET.test(line)) return line;
  const read = Buffer.from(line, "latin1").toString("utf8");
  return read.includes("\ufffd") ? line : read;
}

const HIGH_OCTET = /[\u0080-\u00ff]/;
const NO_OCTET = /[\u0100-\uffff]/;

/** A header's value with its encoded words (RFC 2047) decoded, a character for each octet. Blanks between two of them are dropped (§6.2). */
export function decodedWords(value: string): string {
  return value.replace(/\?=\s+(?==\?)/g, "?=").replace(ENCODED_WORD, (_, encoding: string, text: string) => {
    if (encoding.toUpperCase() === "B") return Buffer.from(text, "base64").toString("latin1");
    return fromQuotedPrintable(text.replaceAll("_", " "));
  });
}

const ENCODED_WORD = /=\?[\w-]{1,40}(?:\*[\w-]{1,40})?\?([QB])\?([^\s?]{0,512})\?=/gi;

/** In one pass over the octets: with a call for each escaped one, half a megabyte of them would keep all else waiting. */
function fromQuotedPrintable(text: string): string {
  const octets = Buffer.from(text.replace(/=\r?\n/g, ""), "latin1");
  let length = 0;
  for (let at = 0; at < octets.length; at++, length++) {
    const escaped = octets[at] === EQUALS_SIGN ? octetOf(octets[at + 1], octets[at + 2]) : undefined;
    octets[length] = escaped ?? octets[at] ?? 0;
    if (escaped !== undefined) at += 2;
  }
  return octets.toString("latin1", 0, length);
}

const EQUALS_SIGN = 0x3d;

/** By two hexadecimal digits. */
function octetOf(high = 0, low = 0): number | undefined {
  const [left, right] = [DIGITS[high] ?? NO_DIGIT, DIGITS[low] ?? NO_DIGIT];
  return left === NO_DIGIT || right === NO_DIGIT ? undefined : left * 16 + right;
}

const NO_DIGIT = 0xff;

/** What each octet is worth as a hexadecimal digit. */
const DIGITS = Uint8Array.from({ length: 256 }, (_, octet) => {
  const digit = String.fromCharCode(octet);
  return /[0-9A-Fa-f]/.test(digit) ? Number.parseInt(digit, 16) : NO_DIGIT;
});
