import { isTooFast } from "../smtp/smtp-replies.ts";

/**
 * Whether a reply puts off all mail from our address, by the words and codes of large providers. For the greeting, MAIL and the message:
 * what is said to RCPT TO is about a recipient, whom many hosts greylist (450 or 451, 4.7.1 or 4.2.0). Pure.
 */
export function asksToWait(reply: string): boolean {
  const head = reply.slice(0, MAX_HEAD).replace(LINE_BREAK, " ");
  if (ABOUT_MAIL.test(head)) return false;
  return OF_ADDRESS.some((pattern) => pattern.test(head)) || isTooFast(head);
}

/** A host may repeat the message behind its own words. */
const MAX_HEAD = 500;

/** With the codes that each line begins with: a host breaks its sentences anywhere. */
const LINE_BREAK = /\r?\n4\d\d[ -](?:4\.\d{1,3}\.\d{1,3} ?)?/g;

const OF_ADDRESS = [
  // Gmail: "Try again later, closing connection", "unusual rate". Yahoo: "[TSS04] … temporarily deferred".
  /^421[ -]4\.7\.0\b/,
  // Gmail's rate; Exchange Online and Outlook.com: "Server busy", "temporarily rate limited due to IP reputation".
  /^4\d\d[ -]4\.7\.(?:28|[56]\d\d)\b/,
  /^4\d\d[ -](?:4\.\d{1,3}\.\d{1,3} )?\[TSS?\d\d\]/,
];

/**
 * About one mailbox (4.2.z), what was said in one session, one message, or its sender's domain: Gmail puts off mail of a domain without
 * SPF, DKIM or DMARC (4.7.24 to 4.7.40) or with a bad name, and mail for what is in it.
 */
const ABOUT_MAIL =
  /^4\d\d[ -]4\.(?:2\.|7\.(?:2[4-79]|3\d|40)\b)|gr[ae]y-?list|\btoo many errors\b|\bthis (?:message|mail|email)\b|\b(?:dkim|spf|dmarc|url|sending|sender) domain|authenticat/i;
