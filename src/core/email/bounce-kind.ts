/** Tells what a refusal says about the address, from its enhanced status code (RFC 3463) or, without one, its reply code. */

/**
 * `hard`: the address will never take mail. `soft`: not now. `message`: this message or its sender was refused, and another
 * one may pass.
 */
export type BounceKind = "hard" | "soft" | "message";

export interface Refusal {
  /** `5.1.1`, or `smtp.550` if the server gave no enhanced code. */
  readonly code: string;
  /** The server's words. */
  readonly text?: string;
  /** What the server refused: the recipient (RCPT TO) or the message (DATA); absent if not known. */
  readonly stage?: "recipient" | "message";
  /** The server that refused, if known. */
  readonly server?: string;
}

export function bounceKind(refusal: Refusal): BounceKind {
  const enhanced = /^([245])\.(\d{1,3})\.(\d{1,3})$/.exec(refusal.code);
  if (enhanced) return enhancedKind(refusal, enhanced[1] ?? "");
  const basic = /^smtp\.(\d)(\d\d)$/.exec(refusal.code);
  if (basic?.[1] === "4") return "soft";
  return basic?.[1] === "5" ? basicKind(refusal, `5${basic[2]}`) : "message";
}

/** The first enhanced status code in a text, of class 2, 4 or 5; no part of a longer row of numbers, such as an IP address. */
export function enhancedCodeIn(text: string): string | undefined {
  return /(?:^|[^\d.])([245]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/.exec(text)?.[1];
}

/** By RFC 3463 §3.2 and §3.3, and RFC 7505 §4.2 (5.1.10); 5.7.13 is RFC 5248's disabled account. */
const HARD = new Set(["5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1", "5.7.13"]);

/** Full, overloaded, or given up on after trying for days. */
const SOFT = new Set(["5.2.2", "5.3.1", "5.4.5", "5.4.7"]);

function enhancedKind({ code, text = "", stage, server = "" }: Refusal, firstDigit: string): BounceKind {
  if (firstDigit !== "5") return "soft";
  if (HARD.has(code)) return "hard";
  if (SOFT.has(code)) return "soft";
  if (code === "5.4.1") return MICROSOFT.test(`${server} ${text}`) ? "hard" : "message";
  // 5.0.0 and 5.1.0 say nothing, so the text and the stage decide.
  if (code === "5.0.0" || code === "5.1.0") return vagueKind({ text, stage });
  return "message";
}

/** Exchange Online answers 5.4.1 for a recipient that is not in its directory. */
const MICROSOFT = /\.outlook\.com|Recipient address rejected: Access denied/i;

/** At RCPT TO these name the mailbox (RFC 5321 §4.2.3); 552 and 554 are about the message or the policy. */
const MAILBOX_CODES = new Set(["550", "551", "553"]);

function basicKind({ text = "", stage }: Refusal, code: string): BounceKind {
  if (!MAILBOX_CODES.has(code) || stage === "message") return "message";
  if (ABOUT_US.test(text)) return "message";
  return stage === "recipient" || UNKNOWN_USER.test(text) ? "hard" : "message";
}

function vagueKind({ text, stage }: { text: string; stage: Refusal["stage"] }): BounceKind {
  return stage !== "message" && UNKNOWN_USER.test(text) && !ABOUT_US.test(text) ? "hard" : "message";
}

/** Words of servers that refuse the sender, but with a code that is about the mailbox. */
const ABOUT_US =
  /\brelay|spam|block|blacklist|blocklist|reputation|policy|spf\b|dkim|dmarc|authenticat|sender/i;

const UNKNOWN_USER =
  /\b(?:unknown|invalid|no such|non-?existent|unrouteable)\b.{0,20}\b(?:user|mailbox|recipient|account|address|local part)\b|\b(?:user|mailbox|recipient|account|address)\b.{0,60}\b(?:unknown|not found|no longer|does(?:n't| not) exist|invalid|disabled|unavailable)\b/i;
