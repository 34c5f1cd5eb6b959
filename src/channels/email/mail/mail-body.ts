import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

export interface MailBody {
  readonly content: string | Readable;
  readonly contentTransferEncoding: "7bit" | "quoted-printable" | "base64";
}

/**
 * A body with CRLF line ends, and an encoding that keeps its lines short. A long body is a stream that yields to the
 * event loop between pieces: encoding 10 MiB in one go would hold up every other message.
 */
export function toMailBody(text: string): MailBody {
  if (text.length <= PIECE && isSevenBit(text)) {
    return { content: withCrlf(text), contentTransferEncoding: "7bit" };
  }
  const contentTransferEncoding = isMostlyLatin(text.slice(0, PIECE)) ? "quoted-printable" : "base64";
  return { content: Readable.from(textPieces(text)), contentTransferEncoding };
}

/** Whether the octets are few enough to be written in one piece. */
export function isAtOnce(octets: Buffer): boolean {
  return octets.length <= PIECE;
}

/** The octets in pieces; yields to the event loop in between. */
export async function* octetPieces(octets: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < octets.length; start += PIECE) {
    yield octets.subarray(start, start + PIECE);
    if (start + PIECE < octets.length) await setImmediate();
  }
}

/** Size of a piece: characters of text, or octets of a composed message. */
const PIECE = 65_536;

async function* textPieces(text: string): AsyncGenerator<Buffer> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length);
    if (isJoined(text, end)) end++;
    yield Buffer.from(withCrlf(text.slice(start, end)));
    start = end;
    await setImmediate();
  }
}

/** Whether a cut at `end` would separate CR from LF, or the halves of a surrogate pair. */
function isJoined(text: string, end: number): boolean {
  const before = text.charCodeAt(end - 1);
  return (before === 0x0d && text.charCodeAt(end) === 0x0a) || (before >= 0xd800 && before <= 0xdbff);
}

function withCrlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, "\r\n");
}

/** Printable ASCII in lines of at most 76 characters, which need no folding. */
function isSevenBit(text: string): boolean {
  return !NOT_PRINTABLE.test(text) && hasShortLines(text);
}

const NOT_PRINTABLE = /[^\t\r\n\x20-\x7e]/;

/** Goes from line end to line end: a pattern over the whole text would look at every character many times. */
function hasShortLines(text: string): boolean {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    if (end - start > 76 && LONG_LINE.test(text.slice(start, end))) return false;
    start = end + 1;
  }
  return text.length - start <= 76 || !LONG_LINE.test(text.slice(start));
}

/** There may be a CR between two LF, and it ends a line too. */
const LONG_LINE = /[^\r\n]{77}/;

/** Whether few characters are not printable ASCII: quoted-printable triples their octets, while base64 adds a third to all. */
function isMostlyLatin(sample: string): boolean {
  const others = sample.match(/[^\t\r\n\x20-\x7e]/g)?.length ?? 0;
  return others * 5 < sample.length;
}
