/** Erasures of a person, and what they do to messages that also went to others. Times are Unix milliseconds. */
import { foldRecipients } from "../email/email-status.ts";
import { addressKey } from "../suppressions/address-key.ts";
import type { EmailContent, Part, Progress, Recipient } from "./message.ts";
import { isOpen } from "./part.ts";
import { isSettled } from "./progress.ts";

export interface NewErasure {
  readonly id: string;
  /** Absent: in every account. */
  readonly accountId?: string;
  /** E.164 number, or address with ASCII in lower case. Kept until the work is done. */
  readonly recipient: string;
  readonly salt: string;
  /** Hex SHA-256 of salt and recipient: all that is kept of the recipient. */
  readonly digest: string;
  readonly createdAt: number;
}

/** The record of an erasure. */
export interface Erasure extends Omit<NewErasure, "recipient"> {
  /** Absent while it is under way. */
  readonly completedAt?: number;
  /** How many messages were deleted. */
  readonly erased: number;
  /** How many emails to several recipients no longer name this one. */
  readonly redacted: number;
  /**
   * At how many places something could not be erased when it last came to its end: a row of a table mostly, which is damaged for example.
   * Absent: at none, as far as is known. Then it is tried again after an hour, and is not completed before nothing is left.
   */
  readonly passedOver?: number;
}

/** Replaces the address; such a domain never exists (RFC 2606 §2). */
export const ERASED_ADDRESS = "erased@erased.invalid";

/** Replaces the number. */
export const ERASED_NUMBER = "erased";

/**
 * Whether a recipient of a suppression or opt-out is the erased form that replaced it in an erasure: `erased:` and the hex
 * HMAC-SHA256 of the number, or of the address in lower case, under a secret of the instance.
 */
export function isErased(recipient: string): boolean {
  return /^erased:[0-9a-f]{64}$/.test(recipient);
}

/** Makes a function that replaces a recipient in texts that operators wrote. */
export function createWordScrubber(
  recipient: string,
  ...others: readonly string[]
): (text: string) => string {
  if (!recipient.startsWith("+")) return createScrubber(recipient, ...others);
  const whole = new RegExp(`(?<![0-9])\\+?${recipient.slice(1)}(?![0-9])`, "g");
  return (text) => text.replaceAll(whole, ERASED_NUMBER);
}

/**
 * Makes a function that replaces an address, in any case, wherever a text, JSON or URL contains it, except within a longer address.
 * `others`: other ways to write the address.
 */
export function createScrubber(address: string, ...others: readonly string[]): (text: string) => string {
  const written = [address, ...others];
  const plain = oneOf(written.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]));
  const encoded = oneOf(
    written.flatMap((form) => [encodeURIComponent(form.toWellFormed()), formEncoded(form)]),
  );
  const start = `(?:${BEGINNING}(?:${plain})|(?:${BEGINNING}|(?<=%[0-9a-f]{2}))(?:${encoded}))`;
  const whole = new RegExp(`${start}(?![A-Za-z0-9-]|\\.[A-Za-z0-9])`, "giu");
  return (text) => text.replaceAll(whole, ERASED_ADDRESS);
}

function oneOf(forms: readonly string[]): string {
  return [...new Set(forms)].map((form) => form.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|");
}

/** As forms are encoded in URLs, which differs in a few characters. */
function formEncoded(text: string): string {
  return new URLSearchParams({ "": text }).toString().slice(1);
}

/** Characters of a local part; not letters of scripts without blanks between words, where an address may follow any letter. */
const WORD = "[\\p{sc=Latin}\\p{sc=Greek}\\p{sc=Cyrillic}\\p{M}0-9_.+-]";

/** An escape sequence of JSON, whose last character is no part of the address after it. */
const ESCAPE = String.raw`(?<!\\)(?:\\\\)*\\(?:[bfnrt]|u[0-9a-f]{4})`;

/** Where an address may begin: not after a character of a longer one, such as o'brien@example.com. */
const BEGINNING = `(?:(?<!${WORD}|${WORD}['&])|(?<=${ESCAPE}))`;

export function isRecipient(part: Pick<Part, "address">, address: string): boolean {
  return part.address !== undefined && addressKey(part.address) === addressKey(address);
}

/** Puts ASCII letters in lower case; databases do not agree on the lower case of others. */
export function lowerAscii(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Fails the open parts of an email to this address; other parts stay as they are. */
export function closeParts(before: Progress, address: string): Progress {
  const parts = before.parts.map((part): Part => {
    if (!isRecipient(part, address) || !isOpen(part)) return part;
    return { ...part, status: "failed", error: { code: "canceled", message: "the recipient was erased" } };
  });
  const isOver = !isSettled(before) && !parts.some(isOpen);
  return { ...before, parts, status: isOver ? foldRecipients(parts) : before.status };
}

/** The email without the display name of this address. */
export function dropName(content: EmailContent, address: string): EmailContent {
  const nameless = (recipients: readonly Recipient[]) =>
    recipients.map((recipient) =>
      isRecipient({ address: recipient.email }, address) ? { email: recipient.email } : recipient,
    );
  return {
    ...content,
    to: nameless(content.to),
    ...(content.cc && { cc: nameless(content.cc) }),
    ...(content.bcc && { bcc: nameless(content.bcc) }),
  };
}
