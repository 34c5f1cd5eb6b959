import type { ErrorCollector } from "../body/field-errors.ts";
import { hasControls, NOT_STORABLE } from "../body/text-rules.ts";

/**
 * Judges custom headers. A name must be valid (RFC 5322 §2.2), not one that the service sets, and given once, unless it begins
 * with `X-`. A value must be on one line, and must not name recipients to a relay. `alsoOwned`: more names that the service sets,
 * in lower case. Problems are reported under `headers.<name>`, or under `headers` if the name is invalid.
 */
export function judgeHeaders(
  headers: Readonly<Record<string, string | undefined>>,
  errors: ErrorCollector,
  alsoOwned: readonly string[],
): void {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const problem = alsoOwned.includes(lower) ? IS_OWNED : headerProblem(name, value);
    if (problem) errors.add(HEADER_NAME.test(name) ? `headers.${name}` : "headers", problem);
    else if (seen.has(lower)) errors.add(`headers.${name}`, "must be given only once, in whatever case");
    if (!lower.startsWith("x-")) seen.add(lower);
  }
}

/** Headers that the service sets if a message asks for it, and that its DKIM signatures always cover (RFC 8058 §4). Lower case. */
export const UNSUBSCRIBE_HEADERS = ["list-unsubscribe", "list-unsubscribe-post"];

const IS_OWNED = "is set by the service and cannot be given";

/** Why a text cannot stand on one line of a header; `undefined` if it can. */
export function lineProblem(text: string): string | undefined {
  if (hasControls(text)) return "must not contain line ends or control characters";
  return text.isWellFormed() ? undefined : NOT_STORABLE;
}

/** Whether the service, relays or receivers write a header of that name: a custom one would contradict or forge theirs. */
export function isOwnedHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return OWNED_NAMES.has(lower) || OWNED_PREFIXES.some((prefix) => lower.startsWith(prefix));
}

/** 76 leaves room for a value on a folded line. */
const HEADER_NAME = /^[!-9;-~]{1,76}$/;
const BAD_NAME = "names must be 1 to 76 printable ASCII characters without space and colon";

const OWNED_NAMES = new Set([
  "from",
  "sender",
  "to",
  "cc",
  "bcc",
  "reply-to",
  "subject",
  "date",
  "message-id",
  "mime-version",
  "return-path",
  "received",
  "dkim-signature",
  "authentication-results",
  "feedback-id",
  "tls-required",
]);
const OWNED_PREFIXES = ["content-", "arc-", "resent-", "cfbl-"];

function headerProblem(name: string, value: string | undefined): string | undefined {
  if (!HEADER_NAME.test(name)) return BAD_NAME;
  if (isOwnedHeader(name)) return IS_OWNED;
  if (value === undefined) return undefined;
  if (addsRecipients(name.toLowerCase(), value)) return ADDS_RECIPIENTS;
  return lineProblem(value) ?? (fitsOnLines(name.toLowerCase(), value) ? undefined : TOO_LONG_A_WORD);
}

const ADDS_RECIPIENTS =
  "names recipients to a provider, past the suppression list: give them in to, cc or bcc";

/**
 * Whether a header gives a relay recipients besides those of the envelope, or in place of them. Mandrill reads them from a header
 * of its own, SendGrid (also `filters.bcc`) and SparkPost from keys of a JSON object. Keys are searched for in the text, at any
 * depth, without parsing it: if a key occurs twice, nobody knows which one a relay reads.
 */
function addsRecipients(lowerName: string, value: string): boolean {
  if (lowerName === "x-mc-bccaddress") return true;
  if (lowerName !== "x-smtpapi" && lowerName !== "x-msys-api") return false;
  const text = value.replaceAll(/\\u([\dA-Fa-f]{4})/g, (_, code) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
  return /"(?:to|cc|bcc|archive)"\s*:/i.test(text);
}

const TOO_LONG_A_WORD = "has a word that is too long for a line of 998 octets";

/**
 * Whether every word fits on a line of 998 octets, after a blank (RFC 5322 §2.1.1). Words outside ASCII fit, since they are encoded
 * in pieces; but message ids are not.
 */
function fitsOnLines(lowerName: string, value: string): boolean {
  if (!MESSAGE_IDS.has(lowerName)) return !/(?:^| )[!-~]{998}/.test(value);
  return value.split(/\s/).every((id) => new TextEncoder().encode(id).length <= MAX_ID);
}

const MESSAGE_IDS = new Set(["in-reply-to", "references"]);
/** The octets that are left for an id on a line, after the blank and between angle brackets. */
const MAX_ID = 995;
