import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";

export interface MailBody {
  readonly content: string | Readable;
  readonly contentTransferEncoding: "7bit" | "quoted-printable" | "base64";
}

/**
 * A body with CRLF as its only line end and an encoding that keeps its lines short. A long one is a stream whose
 * pieces leave the loop free in between: encoding 10 MiB at a stroke would hold up every other message.
 */
export function toMailBody(text: string): MailBody {
  if (text.length <= PIECE && isSevenBit(text)) {
    return { content: withCrlf(text), contentTransferEncoding: "7bit" };
  }
  const contentTransferEncoding = isMostlyLatin(text.slice(0, PIECE)) ? "quoted-printable" : "base64";
  return { content: Readable.from(textPieces(text)), contentTransferEncoding };
}

/** So short that nobody waits for it to be written. */
export function isAtOnce(octets: Buffer): boolean {
  return octets.length <= PIECE;
}

/** The octets in pieces, with the loop free in between. */
export async function* octetPieces(octets: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < octets.length; start += PIECE) {
    yield octets.subarray(start, start + PIECE);
    if (start + PIECE < octets.length) await setImmediate();
  }
}

/** Characters of text, octets of a finished message. */
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

/** True where a cut at `end` would part CR from LF or the halves of a surrogate pair. */
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

/** By the line ends and not by a pattern: that would look at every character many times. */
function hasShortLines(text: string): boolean {
  let start = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
    if (end - start > 76 && LONG_LINE.test(text.slice(start, end))) return false;
    start = end + 1;
  }
  return text.length - start <= 76 || !LONG_LINE.test(text.slice(start));
}

/** What stands between two LF may yet have CR in it. */
const LONG_LINE = /[^\r\n]{77}/;

/** Whether quoted-printable is the shorter of the two: it triples what base64 makes a third longer. */
function isMostlyLatin(sample: string): boolean {
  const others = sample.match(/[^\t\r\n\x20-\x7e]/g)?.length ?? 0;
  return others * 5 < sample.length;
}
