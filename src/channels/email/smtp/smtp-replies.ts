/** What a server's replies mean for each recipient of an envelope (RFC 5321 §4.2, enhanced codes RFC 3463). Pure. */
import { bounceKind } from "../../../core/email/bounce-kind.ts";
import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";

/** What became of one envelope. */
export interface TransactionReport {
  /** The replies to RCPT TO, by address: `accepted`, or the refusal. An address without a reply is absent. */
  readonly recipients: ReadonlyMap<string, RecipientAnswer>;
  readonly end: TransactionEnd;
}

export type RecipientAnswer = "accepted" | { readonly refusal: string };

export type TransactionEnd =
  /** 2yz after the final dot. */
  | { readonly kind: "taken"; readonly reply: string }
  /** 4yz or 5yz to MAIL FROM: the replies to RCPT TO mean nothing. `mayQuote`: an earlier message of the session. */
  | { readonly kind: "sender_refused"; readonly reply: string; readonly mayQuote?: boolean }
  /** 4yz or 5yz to every RCPT TO. */
  | { readonly kind: "recipients_refused" }
  /** 4yz or 5yz to DATA or to the message. `mayQuote`: the server had been told some of the message, and may repeat it. */
  | { readonly kind: "message_refused"; readonly reply: string; readonly mayQuote?: boolean }
  /** It was left before the message was complete, since another process may have taken it over. */
  | { readonly kind: "called_off" }
  /** The connection was lost, or time ran out. */
  | {
      readonly kind: "lost";
      readonly reason: string;
      /** The final dot may have reached the server. */
      readonly wasContentSent: boolean;
      /** There was no reply except that the server is closing. */
      readonly wasUnanswered: boolean;
      /** Time ran out. */
      readonly wasSilent?: true;
    };

/** What the report means for one recipient. `ids`: the provider message ids of a `sent` outcome. */
export function toPartOutcome(
  { recipients, end }: TransactionReport,
  address: string,
  ids: readonly string[],
): PartOutcome {
  if (end.kind === "sender_refused") return refusalOutcome(end.reply, { isRecipient: false });
  const answer = recipients.get(address);
  if (answer !== undefined && answer !== "accepted") {
    if (isOneTooMany({ recipients }, address))
      return { kind: "deferred", error: toMessageError(answer.refusal) };
    return refusalOutcome(answer.refusal, { isRecipient: true });
  }
  if (end.kind === "taken") return { kind: "sent", providerMessageIds: ids, delivered: false };
  if (end.kind === "message_refused") {
    const taken = [...recipients.values()].filter((each) => each === "accepted");
    return refusalOutcome(end.reply, { isRecipient: taken.length === 1 && isAboutMailbox(end.reply) });
  }
  const reason = end.kind === "lost" ? end.reason : "the server did not answer for this recipient";
  const error: MessageError = { code: "smtp.connection_lost", message: reason };
  const isDoubtful = end.kind === "lost" && end.wasContentSent && answer === "accepted";
  return isDoubtful ? { kind: "unconfirmed", error } : { kind: "deferred", error };
}

/**
 * Whether a recipient is one too many for the envelope, or is wanted in another one, as by Google where domains have settings of their
 * own. Only if another recipient was accepted: otherwise there are not too many.
 */
export function isOneTooMany(
  { recipients }: Pick<TransactionReport, "recipients">,
  address: string,
): boolean {
  const answer = recipients.get(address);
  const isOver = typeof answer === "object" && OVER_LIMIT.test(answer.refusal);
  return isOver && [...recipients.values()].includes("accepted");
}

/** 4.5.3, 5.5.3, 452, or the 552 of RFC 821, which is temporary despite its first digit (RFC 5321 §4.5.3.1.10). */
const OVER_LIMIT = /^(?:4\d\d[ -]4\.5\.3\b|5\d\d[ -]5\.5\.3\b|(?:452|552)(?![ -][45]\.\d))/;

/**
 * Whether the server takes no more messages over this connection. OpenSMTPD says so to every recipient once it has taken a hundred (`smtp limit
 * max-mails`): `452 4.5.3 Too many recipients: Too many messages sent`.
 */
export function isUsedUp({ recipients, end }: TransactionReport): boolean {
  return (
    end.kind === "recipients_refused" &&
    recipients.size > 0 &&
    [...recipients.values()].every((each) => typeof each === "object" && USED_UP.test(each.refusal))
  );
}

const USED_UP = /^4\d\d[ -](?:4\.5\.3\b|.{0,40}\btoo many (?:messages|e?mails)\b)/i;

/** 5yz rejects, all else defers. A recipient that is rejected has bounced. */
function refusalOutcome(reply: string, { isRecipient }: { isRecipient: boolean }): PartOutcome {
  const error = toMessageError(reply);
  if (!isPermanent(reply)) return { kind: "deferred", error };
  return isRecipient ? { kind: "rejected", error, bounced: true } : { kind: "rejected", error };
}

/** Some servers look at the mailbox only once they have the message: then only code and words tell that it is about it. */
function isAboutMailbox(reply: string): boolean {
  const { code, message } = toMessageError(reply);
  return /^(?:smtp\.)?5/.test(code) && bounceKind({ code, text: message, stage: "message" }) !== "message";
}

/** Replies about the session, not the message, although they begin with 5: RFC 5321 §4.2.4, RFC 4954 §6. */
const SESSION_CODES = new Set([503, 530, 534, 535, 538]);

function isPermanent(reply: string): boolean {
  return /^5/.test(reply) && !isSessionFault(reply);
}

/** Whether the server objects to the session: it wants a password, TLS, or another order of commands. */
export function isSessionFault(reply: string): boolean {
  return SESSION_CODES.has(Number(reply.slice(0, 3)));
}

/**
 * The reply as an error if the server wants a login or TLS first, which is no fault of the message (RFC 4954 §6). It becomes
 * the state of the connector, which is logged: of a server that may quote the message only the code is told.
 */
export function missingCredentials({ end }: TransactionReport): MessageError | undefined {
  if (!("reply" in end) || !isSessionFault(end.reply) || /^503/.test(end.reply)) return undefined;
  const mayQuote = "mayQuote" in end && end.mayQuote === true;
  return {
    code: "smtp.auth",
    message: toReplyLine(mayQuote ? `${end.reply.slice(0, 3)} ${UNTOLD}` : end.reply),
  };
}

const UNTOLD =
  "in answer to a message; the rest of the answer may quote one, and is on the timeline of the message that it refused";

/** Whether a relay says that we send too fast, which is no fault of the message: 454 at Amazon SES, 451 or 421 elsewhere. */
export function isThrottled(report: TransactionReport): boolean {
  return ("reply" in report.end && isTooFast(report.end.reply)) || hasTooManyRecipients(report);
}

export function isTooFast(reply: string): boolean {
  return TOO_FAST.test(reply) || OF_POSTFIX.test(reply);
}

/** Only in its first words: behind them it may quote the message. What a reply to RCPT TO says is about the recipient. */
const TOO_FAST =
  /^4\d\d[ -](?:4\.\d{1,3}\.\d{1,3} )?(?:\w+ ){0,4}(?:throttl|rate limit|sending rate|too many (?:messages|emails))/i;

/** One client's messages, or recipients, in a minute (`smtpd_client_message_rate_limit`, `smtpd_client_recipient_rate_limit`). */
const OF_POSTFIX = /^4\d\d[ -](?:4\.7\.\d{1,3} )?Error: too (?:much mail|many recipients) from\b/;

/** Whether Postfix has refused a recipient as one too many from us in a minute, which says nothing of that recipient. */
export function hasTooManyRecipients({ recipients }: Pick<TransactionReport, "recipients">): boolean {
  return [...recipients.values()].some((each) => typeof each === "object" && OF_POSTFIX.test(each.refusal));
}

/**
 * Whether a server cannot take mail now. What it says of us holds for the other hosts of its domain too: that we send too fast, are
 * greylisted or have a bad name (4.7.z, RFC 3463 §3.8).
 */
export function isHostUnable(reply: string): boolean {
  return /^4/.test(reply) && !isTooFast(reply) && !/^4\d\d[ -]4\.7\./.test(reply);
}

/** Whether a reply is about the server (RFC 3463 §3.4), whatever it answers. */
export function isOfSystem(reply: string): boolean {
  return isServiceClosing(reply) || /^4\d\d[ -]4\.3\./.test(reply);
}

/** Whether the server was told content of the message, which it may repeat as long as the session lasts. */
export function wasTold({ end }: TransactionReport): boolean {
  return end.kind === "taken" || (end.kind === "message_refused" && end.mayQuote === true);
}

/** The report of a server that had been told an earlier message. */
export function afterTold(report: TransactionReport): TransactionReport {
  const { end } = report;
  const isRefusal = end.kind === "sender_refused" || end.kind === "message_refused";
  return isRefusal ? { ...report, end: { ...end, mayQuote: true } } : report;
}

/** The report with all words of the server passed through `tidied`. */
export function withWords(report: TransactionReport, tidied: (words: string) => string): TransactionReport {
  const { recipients, end } = report;
  const answers = [...recipients].map(
    ([address, answer]) =>
      [address, answer === "accepted" ? answer : { refusal: tidied(answer.refusal) }] as const,
  );
  return { recipients: new Map(answers), end: endWithWords(end, tidied) };
}

function endWithWords(end: TransactionEnd, tidied: (words: string) => string): TransactionEnd {
  if (end.kind === "lost") return { ...end, reason: tidied(end.reason) };
  return end.kind === "sender_refused" || end.kind === "message_refused"
    ? { ...end, reply: tidied(end.reply) }
    : end;
}

/** Whether the server is about to close the connection; 421 may answer any command (RFC 5321 §3.8). */
export function isServiceClosing(reply: string): boolean {
  return /^421\b/.test(reply);
}

/** `code` is the enhanced status code, else `smtp.550`; `message` is one line of at most 200 characters without addresses. */
export function toMessageError(reply: string): MessageError {
  const enhanced = (ENHANCED.exec(reply) ?? MARKED.exec(reply.slice(0, MAX_REPLY_READ)))?.[1];
  const basic = /^\d{3}/.exec(reply)?.[0];
  return { code: enhanced ?? (basic ? `smtp.${basic}` : "smtp.reply"), message: toReplyLine(reply) };
}

/**
 * An enhanced code of another class than its reply contradicts it (RFC 2034 §4): 5.1.1 in a 450 would make an address
 * unknown that is only busy. After a 5yz, 4.y.z still tells a full mailbox from an unknown one.
 */
const ENHANCED = /^(?:4\d\d[ -](?=4)|5\d\d[ -](?=[45])|[^45]\d\d[ -])([245]\.\d{1,3}\.\d{1,3})\b/;

/**
 * Where qmail and Cisco's servers write an enhanced code: behind a `#`, and anywhere (`550 no mailbox here (#5.1.1)`). Codes that say
 * nothing are passed over, since the reply code says more.
 */
const MARKED =
  /^(?:4\d\d(?=[ -]).*?[\s(]#(?=4)|5\d\d(?=[ -]).*?[\s(]#(?=[45]))(\d\.(?!0\.0\b|1\.0\b)\d{1,3}\.\d{1,3})\b/s;

/** Longer replies are cut before they are looked at. */
export const MAX_REPLY_READ = 2_000;
const MAX_LINE = 200;

/** A reply as one line for people: the basic code once, no enhanced codes, no addresses. */
export function toReplyLine(reply: string): string {
  const lines = reply.slice(0, MAX_REPLY_READ).split(/\r?\n/);
  const texts = lines.map((line) =>
    line.replace(/^\d{3}(?:[ -]|$)/, "").replace(/^[245]\.\d{1,3}\.\d{1,3}\s?/, ""),
  );
  const code = /^\d{3}/.exec(reply)?.[0];
  return toOneLine(`${code ?? ""} ${texts.join(" ")}`);
}

/** One line of at most 200 characters, without addresses and control characters. */
export function toOneLine(text: string): string {
  const masked = text
    .slice(0, MAX_REPLY_READ)
    .replace(ADDRESS, "<address>")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are replaced
    .replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/g, " ")
    .trim();
  return masked.length > MAX_LINE ? `${masked.slice(0, MAX_LINE - 1)}…` : masked;
}

/** Tried only where a word begins: a server chooses how long its words are, and refuses fifty recipients with one each. */
const ADDRESS = /<?(?:"[^"<>@]{1,64}"|(?<![^\s<>"])[^\s<>"]+)@[^\s<>"]+>?/g;

/** Postfix, smtp-server and many others: `queued as X`. Exim: `id=X`. */
const QUEUE_ID = /\b(?:queued as|id=)\s*<?([A-Za-z0-9][A-Za-z0-9._-]{0,127})/i;

/** Amazon SES: only the id after `Ok`. */
const BARE_ID = /^250 Ok ([0-9a-f]{16}-[0-9a-f-]{36}-[0-9]{6})\s*$/i;

/** The id under which the server queued the message, if its last reply names one. */
export function toQueueId(reply: string): string | undefined {
  const head = reply.slice(0, MAX_REPLY_READ);
  return (QUEUE_ID.exec(head) ?? BARE_ID.exec(head))?.[1];
}
