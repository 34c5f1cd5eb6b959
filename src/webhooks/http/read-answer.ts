import { type AnswerHeader, endOfHeader, parseAnswerHeader } from "./answer-header.ts";
import { type BodyReader, openBodyReader, type Reading } from "./read-body.ts";
import { openHeadReader } from "./read-head.ts";

/** What is kept of an answer. */
export interface Answer {
  readonly status: number;
  readonly retryAfter?: string;
  /** The first 1 KiB of the body as text, without control characters. */
  readonly head: string;
}

/** Reads one answer of HTTP/1.1 (RFC 9112) to a POST, piece by piece. */
export interface AnswerReader {
  /** Must not be called again after a result other than `more`. */
  take(chunk: Buffer): Reading | "malformed";
  /** True once something has come. */
  hasBegun(): boolean;
  /** Defined once status and header have come, even if the body fails. */
  answer(): Answer | undefined;
}

/** The most characters of status line and header, those of interim answers included. */
const MAX_HEADER = 16 * 1024;

export function openAnswerReader(): AnswerReader {
  const head = openHeadReader();
  let text = "";
  let length = 0;
  let header: AnswerHeader | undefined;
  let body: BodyReader | undefined;

  const takeHeader = (chunk: Buffer): Reading | "malformed" => {
    const before = text.length;
    text += chunk.toString("latin1");
    // An empty line may have begun with the chunk before.
    const end = endOfHeader(text, Math.max(0, before - 3));
    length += (end === -1 ? text.length : end) - before;
    if (length > MAX_HEADER || !isHttp(text)) return "malformed";
    if (end === -1) return "more";
    header = parseAnswerHeader(text.slice(0, end));
    if (!header) return "malformed";
    text = "";
    const rest = chunk.subarray(end - before);
    if (isInterim(header)) {
      header = undefined;
      return rest.length > 0 ? takeHeader(rest) : "more";
    }
    body = openBodyReader(header, head.take);
    return body.take(rest);
  };
  return {
    take: (chunk) => (body ? body.take(chunk) : takeHeader(chunk)),
    hasBegun: () => length > 0,
    answer() {
      if (!header) return undefined;
      const { status, retryAfter } = header;
      return { status, ...(retryAfter !== undefined && { retryAfter }), head: head.text() };
    },
  };
}

/** Whether the text can be HTTP. Checked with every chunk, since a server of another protocol may never send an empty line. */
function isHttp(text: string): boolean {
  return text.startsWith(START.slice(0, text.length));
}

const START = "HTTP/1.";

/** True for a 1xx, which is followed by another answer (RFC 9110 §15.2). Not for 101, with which HTTP ends. */
function isInterim({ status }: AnswerHeader): boolean {
  return status < 200 && status !== 101;
}
