/**
 * Reads feedback reports (ARF, RFC 5965): complaints that mailbox providers pass on. Whose complaint it is, the return path says:
 * providers often redact the Original-Rcpt-To. Pure.
 */
import { decodedBody, type Entity, mediaType, walk } from "./mime.ts";
import { parseFieldGroups } from "./report-fields.ts";

export interface Feedback {
  readonly kind: "complaint" | "unsubscribe" | "none";
  /** The report's own word, in lower case: `abuse`. */
  readonly word: string;
}

/** By Feedback-Type (RFC 5965 §7.3, RFC 6591, RFC 6430); an unknown one is a complaint. */
const KINDS: Readonly<Record<string, Feedback["kind"]>> = {
  abuse: "complaint",
  fraud: "complaint",
  virus: "complaint",
  other: "complaint",
  "opt-out": "unsubscribe",
  "not-spam": "none",
  "auth-failure": "none",
  dkim: "none",
};

const MAX_OCTETS = 64 * 1024;

export function readFeedback(mail: Entity): Feedback | undefined {
  for (const part of walk(mail)) {
    if (mediaType(part) !== "message/feedback-report") continue;
    const fields = parseFieldGroups(decodedBody(part, MAX_OCTETS))[0];
    const word = /^[\w-]{1,40}/.exec(fields?.get("feedback-type") ?? "")?.[0].toLowerCase();
    if (word === undefined) continue;
    const kind = Object.hasOwn(KINDS, word) ? (KINDS[word] ?? "complaint") : "complaint";
    return { kind, word };
  }
  return undefined;
}
