/** The most octets of an answer's body to read: enough to keep the connection after most answers, too few to do harm. */
const MAX_READ = 64 * 1024;

/** The most octets to keep, to be shown. */
const MAX_KEPT = 1024;

/** Keeps the beginning of a body, to be shown to the operator. */
export interface HeadReader {
  /** False to stop reading. */
  take(chunk: Uint8Array): boolean;
  /** As UTF-8. Invalid octets and control characters are replaced; a character cut at the end is left out. */
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

/** Control characters, line separators, and those that change the direction of text. */
const UNPRINTABLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;
