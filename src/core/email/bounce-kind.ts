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
  /** Whom it refused, if known. */
  readonly recipient?: string;
}

export function bounceKind(refusal: Refusal): BounceKind {
  const enhanced = /^([245])\.(\d{1,3})\.(\d{1,3})$/.exec(refusal.code);
  if (enhanced) return enhancedKind(refusal, enhanced[1] ?? "");
  const basic = /^smtp\.(\d)(\d\d)$/.exec(refusal.code);
  if (basic?.[1] === "4") return delayKind(refusal);
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

function enhancedKind(refusal: Refusal, firstDigit: string): BounceKind {
  const { code, text = "", server = "" } = refusal;
  if (firstDigit !== "5") return delayKind(refusal);
  if (HARD.has(code)) return FULL.test(text) ? "soft" : "hard";
  if (SOFT.has(code)) return code === "5.4.5" && ABOUT_US.test(text) ? "message" : "soft";
  if (code === "5.4.1") return MICROSOFT.test(`${server} ${text}`) ? "hard" : "message";
  if (OF_DOMAIN.has(code) && isDomainGone(refusal)) return "hard";
  return (VAGUE.has(code) && kindByWords(text)) || "message";
}

/**
 * What was put off until nobody tried any more. That our address is on a list, or sends too much (4.7.z, RFC 3463 §3.8), holds for all of
 * a provider's mailboxes: if that lasts for days, they are as good as before.
 */
function delayKind({ code, text = "" }: Refusal): BounceKind {
  const isAboutUs = code.startsWith("4.7.") || ABOUT_US.test(text);
  return isAboutUs && !FULL.test(text) ? "message" : "soft";
}

/** These say nothing, so the text decides. Microsoft's mailboxes for everybody answer 5.5.0 for one that does not exist. */
const VAGUE = new Set(["5.0.0", "5.1.0", "5.5.0"]);

/** Exchange Online answers 5.4.1 for a recipient that is not in its directory. */
const MICROSOFT = /\.outlook\.com|Recipient address rejected: Access denied/i;

/** What Postfix (5.4.4, 5.1.0) and Exchange Online (5.4.310) answer for a domain that does not exist, or takes no mail. */
const OF_DOMAIN = new Set(["5.4.4", "5.1.0", "5.4.310"]);

/**
 * Whether the text says that of the recipient's domain. Where the DNS gave no answer Postfix adds `, try again`. It says the same of its
 * own next hop, and of a host that the domain's MX record names; neither is the recipient's fault.
 */
function isDomainGone({ text = "", recipient = "" }: Refusal): boolean {
  const name = NO_SUCH_NAME.exec(text)?.slice(1).find(Boolean)?.toLowerCase();
  return name !== undefined && recipient.toLowerCase().endsWith(`@${name}`);
}

const NO_SUCH_NAME =
  /\bName service error for\s+name=(\S+)\s+type=(?:MX|A|AAAA): Host not found\s*$|\bDNS domain (\S+) does not exist\b|\bDomain (\S+) does not accept mail \(nullMX\)/;

/** Refusals of mail (RFC 5321 §4.2.3), and those of them that are about the mailbox if they answer RCPT TO. */
const MAIL_CODES = /^55[0-4]$/;
const MAILBOX_CODES = new Set(["550", "551", "553"]);

function basicKind({ text = "", stage }: Refusal, code: string): BounceKind {
  if (!MAIL_CODES.test(code)) return "message";
  return kindByWords(text) ?? (stage === "recipient" && MAILBOX_CODES.has(code) ? "hard" : "message");
}

/** What the text says, whatever it answers: Yahoo tells only after DATA, with 554, that it has no such mailbox. */
function kindByWords(text: string): BounceKind | undefined {
  if (ABOUT_US.test(text)) return "message";
  if (FULL.test(text)) return "soft";
  return UNKNOWN_USER.test(text) ? "hard" : undefined;
}

/**
 * Words of servers that refuse the sender, but with a code that is about the mailbox: its name in HELO, its address and reverse DNS,
 * lists that it is on, relaying, a login or TLS that is missing, policies, limits, headers.
 */
const ABOUT_US = new RegExp(
  [
    "\\brelay(?! recipient)|rcpthosts|not a gateway|authenticat|authori[sz]|\\bauth\\b|encrypt|\\btls\\b",
    "sender|sending|call(?:back|out)\\b|\\bspf\\b|dkim|dmarc|return[- ]path|(?:mail|message|envelope)s? from|no mx\\b",
    "\\b(?:helo|ehlo|ptr|rdns)\\b|reverse dns|\\bresolve\\b|unresolvable|client host|\\bip address|dynamic ip",
    "your (?:ip|access|(?:mail ?)?server|host|network|domain|account|quota)\\b|header",
    "spam|junk|block|black[- ]?list|dnsbl|\\brbl\\b|(?<!not )listed (?:at|by|in|on)\\b|reputation|gr[ae]y-?list",
    "polic(?:y|ies)|prohibit|protocol|too many|daily|per (?:hour|day)|you are not|go away|(?<!rejected: )access denied",
  ].join("|"),
  "i",
);

/** A full mailbox takes mail again once its owner has made room, and one that gets too much at once (5.2.1 at Gmail) a little later. */
const FULL =
  /receiving (?:e?mail|messages) at a rate|\bquota|\b(?:mailbox|mailfolder|inbox)\b.{0,20}\bfull\b|\bfull (?:mailbox|inbox)\b|storage|disk space|receiving limit/i;

/** `<address>` stands for one that was taken out of the text, and may be anybody's. */
const UNKNOWN_USER = new RegExp(
  [
    "\\b(?:unknown|invalid|no such|non-?existent|unrouteable)\\b.{0,20}\\b(?:user|mailbox|recipient|account|(?<!<)address|local part)\\b",
    "\\b(?:user|mailbox|recipient|account|(?<!<)address)\\b.{0,60}\\b(?:unknown|not found|no longer|does(?:n't| not) exist|invalid|disabled|discontinued|inactive|unavailable)\\b",
    "(?:<address>|[^\\s@]@[^\\s@]+) (?:is )?(?:unknown|not found|no longer|does(?:n't| not) exist)\\b",
    "\\buser does(?:n't| not) have an? .{0,40}\\baccount\\b",
    // Exim, of a null MX.
    "\\bMX or SRV record indicated no SMTP service\\b",
  ].join("|"),
  "i",
);
