import type { AnswerHeader } from "./answer-header.ts";

/** `ended`: all has come, and the connection can be used again. `enough`: nothing more is read, and the connection has to be closed. */
export type Reading = "more" | "ended" | "enough";

/** Finds the end of an answer's body, and passes its content on. */
export interface BodyReader {
  /** Must not be called again after a result other than `more`. */
  take(chunk: Uint8Array): Reading;
}

/** Takes a piece of the content, without framing; returns false to stop reading. */
type OnContent = (piece: Uint8Array) => boolean;

export function openBodyReader({ framing, isPersistent }: AnswerHeader, onContent: OnContent): BodyReader {
  const end = (rest: Uint8Array) => (isPersistent && rest.length === 0 ? "ended" : "enough");
  if (framing === "none") return { take: end };
  if (framing === "close") return { take: (chunk) => (onContent(chunk) ? "more" : "enough") };
  if (framing === "chunked") return openChunkedReader(onContent, end);
  let left = framing;
  return {
    take(chunk) {
      const piece = chunk.subarray(0, left);
      left -= piece.length;
      if (!onContent(piece)) return "enough";
      return left > 0 ? "more" : end(chunk.subarray(piece.length));
    },
  };
}

/** The most octets to read of a chunked body, framing included: twice as many as of its content. */
const MAX_CHUNKED = 128 * 1024;

/**
 * RFC 9112 §7.1: a line with the size, the chunk, an empty line; after the chunk of size 0 a trailer up to an empty
 * line. Anything else ends the reading.
 */
function openChunkedReader(onContent: OnContent, end: (rest: Uint8Array) => Reading): BodyReader {
  const takeLine = openLineReader();
  let expects: "size" | "chunk" | "gap" | "trailer" = "size";
  let left = 0;
  let seen = 0;

  const takeChunk = (rest: Uint8Array): Uint8Array | undefined => {
    const piece = rest.subarray(0, left);
    left -= piece.length;
    if (left === 0) expects = "gap";
    return onContent(piece) ? rest.subarray(piece.length) : undefined;
  };
  /** Takes a line; false if the body ends with it, or is malformed. */
  const goesOn = (line: string): boolean => {
    if (expects === "trailer") return line !== "";
    if (expects === "gap") {
      expects = "size";
      return line === "";
    }
    const [, size] = SIZE.exec(line) ?? [];
    left = Number.parseInt(size ?? "0", 16);
    expects = left === 0 ? "trailer" : "chunk";
    return size !== undefined;
  };
  return {
    take(chunk) {
      seen += chunk.length;
      let rest: Uint8Array | undefined = chunk;
      while (seen <= MAX_CHUNKED && rest.length > 0) {
        if (expects === "chunk") rest = takeChunk(rest);
        else {
          const read = takeLine(rest);
          rest = read.rest;
          if (read.line === undefined) continue;
          const isLast = expects === "trailer" && read.line === "";
          if (!goesOn(read.line)) return isLast ? end(rest) : "enough";
        }
        if (!rest) return "enough";
      }
      return seen <= MAX_CHUNKED ? "more" : "enough";
    },
  };
}

/** The size of a chunk in hexadecimal; extensions may follow. */
const SIZE = /^([\da-f]{1,8})[ \t]*(?:;|$)/i;

const LF = 10;

/** Joins chunks to lines. Returns a `line`, without its line end, once it is complete, and the `rest` of the chunk. */
function openLineReader(): (chunk: Uint8Array) => { readonly line?: string; readonly rest: Uint8Array } {
  let begun = "";
  return (chunk) => {
    const end = chunk.indexOf(LF);
    begun += new TextDecoder("latin1").decode(end === -1 ? chunk : chunk.subarray(0, end));
    if (end === -1) return { rest: chunk.subarray(chunk.length) };
    const line = begun.replace(/\r$/, "");
    begun = "";
    return { line, rest: chunk.subarray(end + 1) };
  };
}
