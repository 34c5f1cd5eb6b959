/** Bytes of an answer that are read at the most: enough to keep the connection, too few to do harm. */
const MAX_READ = 64 * 1024;

/** Bytes kept to show. */
const MAX_KEPT = 1024;

/** Reads a body for what an operator wants to see of it. */
export interface HeadReader {
  /** False when it has been enough. */
  take(chunk: Uint8Array): boolean;
  /** UTF-8; what is none, and control characters, replaced; a character cut in half at the end left out. */
  text(): string;
}

export function openHeadReader(): HeadReader {
  const kept: Uint8Array[] = [];
  let length = 0;
  return {
    take(chunk) {
      if (length < MAX_KEPT) kept.push(chunk.slice(0, MAX_KEPT - length));
      length += chunk.length;
      return length <= MAX_READ;
    },
    text() {
      const text = new TextDecoder().decode(Buffer.concat(kept), { stream: length > MAX_KEPT });
      return text.replace(/[\t\r\n]+/g, " ").replace(UNPRINTABLE, "\ufffd");
    },
  };
}

/** Control characters, line separators, and those that turn the direction of text around. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
