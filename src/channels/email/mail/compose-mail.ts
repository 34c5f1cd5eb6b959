import MailComposer from "nodemailer/lib/mail-composer";
import { encodeWord } from "nodemailer/lib/mime-funcs";
import { isOwnedHeader } from "../../../core/email/email-headers.ts";
import type { EmailContent, MessageError, Recipient } from "../../../core/messages/message.ts";
import { type DkimKey, signMail } from "../dkim/sign-mail.ts";
import { asciiDomainOf, isAscii, toEnvelopeAddress } from "./mail-address.ts";
import { toMailBody } from "./mail-body.ts";
import { printMail } from "./print-mail.ts";

export interface MailToCompose {
  readonly messageId: string;
  /** Unix milliseconds. Becomes the Date field, unless the message is scheduled. */
  readonly createdAt: number;
  readonly content: EmailContent;
  /** The message gets a signature for each key; absent: it is not signed. */
  readonly dkim?: readonly DkimKey[];
}

export type ComposedMail =
  | {
      readonly kind: "composed";
      /** RFC 5322, CRLF throughout, no line over 998 octets. */
      readonly raw: Buffer;
      /** Whether the header holds UTF-8, in an address or a message id, and so needs SMTPUTF8. */
      readonly needsSmtpUtf8: boolean;
    }
  | { readonly kind: "refused"; readonly error: MessageError };

/**
 * Composes the message as it goes over the wire: the same octets every time, without Bcc. Refuses values that could forge a
 * header, although the API has refused them already, so that nothing depends on the composing library alone.
 */
export async function composeMail(mail: MailToCompose): Promise<ComposedMail> {
  const fault = findFault(mail.content);
  if (fault !== undefined) return refused("smtp.invalid_message", fault);
  const plain = withEmptyFields(mail, await printMail(compile(mail)));
  const header = plain.subarray(0, plain.indexOf("\r\n\r\n"));
  if (hasLongLine(header)) return refused("smtp.invalid_message", "a header line is longer than 998 octets");
  const raw = mail.dkim ? await signMail(plain, mail.dkim) : plain;
  if (!raw) return refused("smtp.dkim", "a DKIM key of the domain cannot sign");
  return { kind: "composed", raw, needsSmtpUtf8: !isAscii(header.toString("latin1")) };
}

function refused(code: string, message: string): ComposedMail {
  return { kind: "refused", error: { code, message } };
}

function findFault(content: EmailContent): string | undefined {
  const { from, to, cc = [], bcc = [], replyTo, subject, headers = {} } = content;
  const people = [from, ...to, ...cc, ...bcc, ...(replyTo === undefined ? [] : [{ email: replyTo }])];
  if (people.some(({ email }) => toEnvelopeAddress(email) === undefined)) return "an address is not valid";
  const texts = [subject, ...people.map(({ name }) => name ?? ""), ...Object.values(headers)];
  if (texts.some((text) => BREAKS_LINES.test(text))) return "CR, LF or NUL in a header value";
  const badName = Object.keys(headers).find((name) => !FIELD_NAME.test(name) || isOwnedHeader(name));
  if (badName !== undefined) return "a custom header has a name that cannot be used";
  if (content.bodyText === undefined && content.bodyHtml === undefined) return "the message has no body";
  return undefined;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is one of the three
const BREAKS_LINES = /[\r\n\u0000]/;

/** RFC 5322 §2.2: printable ASCII without the colon. */
const FIELD_NAME = /^[!-9;-~]{1,256}$/;

/**
 * Custom headers in ASCII go out as they were given, only folded, and so does text in angle brackets. The composer would make encoded
 * words of every value with quotation marks or with a letter outside ASCII, and readers of structured fields (`List-Id`, JSON for a
 * provider) do not decode those (RFC 2047 §5). Names that readers would take for encoded words become such.
 */
function compile(mail: MailToCompose) {
  const root = new MailComposer(toComposerOptions(mail)).compile();
  const custom = new Set(Object.keys(mail.content.headers ?? {}).map((name) => name.toLowerCase()));
  const encode = root.encodeHeaderValue.bind(root);
  root.encodeHeaderValue = (name, value) => {
    if (NAMED_FIELDS.test(name)) return encodeQuoted(encode(name, value));
    const isCustom = custom.has(name.toLowerCase()) && !MESSAGE_IDS.test(name);
    if (!isCustom || typeof value !== "string") return encode(name, value);
    return encodeAround(value, (text) => encode(name, text));
  };
  return root;
}

/** The fields with names of people. */
const NAMED_FIELDS = /^(?:from|to|cc)$/i;

/**
 * Between quotation marks nothing is an encoded word (RFC 2047 §5), but many readers decode it all the same. Quotation marks before an
 * `@` are an address's.
 */
function encodeQuoted(mailboxes: string): string {
  return mailboxes.replaceAll(/"((?:[^"\\]|\\.)*)"(@?)/g, (quoted, text: string, at: string) =>
    text.includes("=?") && at === "" ? encodeWord(text.replaceAll(/\\(.)/g, "$1"), "Q", 52) : quoted,
  );
}

/** Encodes texts that need it, but not the ids and URLs in angle brackets between them (RFC 2919, RFC 2369). */
function encodeAround(value: string, encode: (text: string) => string): string {
  if (isPlain(value)) return value;
  const pieces = value.split(/(<[!-;=?-~]+>)/);
  return pieces
    .map((piece) => (isPlain(piece) ? piece : ` ${encode(withoutEndBlanks(piece))} `))
    .join("")
    .trim();
}

/** Removes blanks at both ends; those outside ASCII belong to the text. */
function withoutEndBlanks(text: string): string {
  return withoutLastBlanks(text.replace(/^ +/, ""));
}

/** Without a pattern: it would start again at every blank of a run within the text, and senders choose how long that is. */
function withoutLastBlanks(text: string): string {
  let end = text.length;
  while (text[end - 1] === " ") end--;
  return text.slice(0, end);
}

/** Whether nothing in it needs to be encoded, and readers take nothing in it for an encoded word. */
function isPlain(text: string): boolean {
  return isAscii(text) && !/=\?[^\s?]+\?[bq]\?/i.test(text);
}

/** Adds custom headers without a value: the composer leaves them out, though a field may have none (RFC 5322 §3.6.8). */
function withEmptyFields({ content }: MailToCompose, composed: Buffer): Buffer {
  const empty = customHeaders(content).filter(({ value }) => value === "");
  if (empty.length === 0) return composed;
  return Buffer.concat([Buffer.from(empty.map(({ key }) => `${key}:\r\n`).join("")), composed]);
}

function customHeaders({ headers = {} }: EmailContent): readonly { key: string; value: string }[] {
  return Object.entries(headers).map(([key, value]) => ({
    key,
    value: toFoldable(MESSAGE_IDS.test(key) ? value.replaceAll(/\s/g, " ") : value),
  }));
}

function toComposerOptions({ content, messageId, createdAt }: MailToCompose) {
  const headers = customHeaders(content).filter(({ value }) => value !== "");
  const spelling = new Map(headers.map(({ key }) => [key.toLowerCase(), key]));
  return {
    from: toMailbox(content.from),
    to: content.to.map(toMailbox),
    ...(content.cc?.length && { cc: content.cc.map(toMailbox) }),
    ...(content.replyTo !== undefined && { replyTo: toMailbox({ email: content.replyTo }) }),
    subject: toSubject(content.subject),
    messageId: `<${messageId}@${asciiDomainOf(content.from.email)}>`,
    date: new Date(content.scheduledAt ?? createdAt),
    ...(content.bodyText && { text: toMailBody(content.bodyText) }),
    ...(content.bodyHtml && { html: toMailBody(content.bodyHtml) }),
    headers,
    normalizeHeaderKey: (key: string) => spelling.get(key.toLowerCase()) ?? key,
    // A body cannot contain it: `=_` does not occur in quoted-printable, and senders do not know the id in advance.
    boundaryPrefix: "=_postrider",
    baseBoundary: messageId,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

/** An object, since nodemailer would parse a string, and such parsers have been tricked into other addresses. */
function toMailbox({ email, name }: Recipient): { name: string; address: string } {
  return { name: toFoldable(name ?? ""), address: email };
}

/**
 * Fields whose values the composer does not encode, since message ids may hold UTF-8 (RFC 6532 §3.3). It would also fold them at
 * blanks outside ASCII, and the text after such a fold would no longer be part of the header.
 */
const MESSAGE_IDS = /^(in-reply-to|references)$/i;

/**
 * Shortens runs of blanks that could fill a line of a folded field, and removes those at the end: readers take a line of blanks for
 * the end of the header (RFC 5322 §3.2.2).
 */
function toFoldable(text: string): string {
  return withoutLastBlanks(text).replaceAll(/ {60,}/g, " ");
}

/**
 * Encodes a subject that has no blanks to fold at, that has blanks enough to fill a line, or that readers would take for an
 * encoded word (RFC 2047).
 */
function toSubject(subject: string): string {
  const text = withoutLastBlanks(subject) || " ";
  const needsWords = isAscii(text) && /=\?|\S{71}| {60}/.test(text);
  return needsWords ? encodeWord(text, "Q", 52) : text;
}

function hasLongLine(header: Buffer): boolean {
  return header
    .toString("latin1")
    .split("\r\n")
    .some((line) => line.length > 998);
}
