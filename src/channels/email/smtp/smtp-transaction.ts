import { Readable } from "node:stream";
import type SmtpConnection from "nodemailer/lib/smtp-connection";
import type { SMTPEnvelope } from "nodemailer/lib/smtp-connection";
import { isAscii } from "../mail/mail-address.ts";
import { isAtOnce, octetPieces } from "../mail/mail-body.ts";
import { askForUtf8 } from "./nodemailer/ask-for-utf8.ts";
import { guardWrites } from "./nodemailer/guard-writes.ts";
import { isServiceClosing, type TransactionEnd, type TransactionReport, toOneLine } from "./smtp-replies.ts";

export interface Envelope {
  readonly from: string;
  /** At least one, without duplicates. */
  readonly to: readonly string[];
  /** Asks a server with the DSN extension for notifications (RFC 3461); for an envelope with one recipient. */
  readonly dsn?: DsnRequest;
}

export interface DsnRequest {
  /** Comes back as `Original-Envelope-Id`. */
  readonly envid: string;
  /** Comes back as `Original-Recipient`. */
  readonly orcpt: string;
  readonly wantsSuccess: boolean;
}

export interface FilledEnvelope extends Envelope {
  readonly raw: Buffer;
  /** The header holds an address that needs SMTPUTF8. Only for servers that offer it. */
  readonly needsSmtpUtf8?: boolean;
}

/** How long a transaction may go on. */
export interface TransactionLimits {
  /** Aborting it ends the transaction at once. Its reason (a string) becomes the report's. */
  readonly signal: AbortSignal;
  /** Once it is false, nothing more is written: another process may have taken the message over. */
  readonly isOurs: () => boolean;
}

/** Sends one envelope and reports what became of it; never rejects. The connection is closed afterwards if its state is in doubt. */
export function runTransaction(
  connection: SmtpConnection,
  filled: FilledEnvelope,
  limits: TransactionLimits,
): Promise<TransactionReport> {
  const { from, to, dsn, raw } = filled;
  const envelope: KeptEnvelope = { from, to: [...to], size: raw.length, ...(dsn && toDsnOptions(dsn)) };
  const content = openContent(raw);
  const { promise, resolve } = Promise.withResolvers<TransactionReport>();
  let isSettled = false;
  let restore = () => {};
  const settle = (end: TransactionEnd) => {
    if (isSettled) return;
    isSettled = true;
    restore();
    if (isInDoubt(end, content)) connection.close();
    resolve({ recipients: repliesOf(envelope), end });
  };
  const lose = (reason: string, wasSilent = false) =>
    settle({
      kind: "lost",
      reason: toOneLine(reason),
      wasContentSent: content.isSent(),
      wasUnanswered: isUnanswered(connection),
      ...(wasSilent && { wasSilent }),
    });
  if (limits.signal.aborted) {
    lose(String(limits.signal.reason));
    return promise;
  }
  connection.lastServerResponse = false;
  restore = prepare(connection, filled, { ...limits, lose, callOff: () => settle({ kind: "called_off" }) });
  content.stream.once("end", () => liftLimit(connection));
  connection.send(envelope, content.stream, (error, info) => {
    const mayQuote = content.isBegun();
    const end = error ? toEnd(error, envelope, mayQuote) : toTakenEnd(info.response, content.isSent());
    if (end) settle(end);
    else lose(describe(error), error?.code === "ETIMEDOUT");
  });
  return promise;
}

type Content = ReturnType<typeof openContent>;

/** After an answer in the middle of the content the server may still read what follows as content. */
function isInDoubt({ kind }: TransactionEnd, content: Content): boolean {
  return kind === "lost" || kind === "called_off" || (content.isBegun() && !content.isSent());
}

interface Ends extends TransactionLimits {
  readonly lose: (reason: string) => void;
  readonly callOff: () => void;
}

/** Makes the connection heed the limits, and ask for what the mail needs, until the returned function is called. */
function prepare(
  connection: SmtpConnection,
  { from, to, needsSmtpUtf8 = false }: FilledEnvelope,
  { signal, isOurs, lose, callOff }: Ends,
): () => void {
  const askNoMore = needsSmtpUtf8 && [from, ...to].every(isAscii) ? askForUtf8(connection) : () => {};
  // Without its final dot the server throws the message away (RFC 5321 §4.1.1.10).
  const guardNoMore = guardWrites(connection, { mayWrite: isOurs, onRefused: callOff });
  const onAbort = () => lose(String(signal.reason));
  // Not every lost connection reaches the callback of `send`. Deferred, so that the callback's error wins.
  const onEnd = () => setImmediate(lose, "the connection was lost");
  signal.addEventListener("abort", onAbort);
  connection.once("end", onEnd);
  return () => {
    askNoMore();
    guardNoMore();
    limitWait(connection);
    signal.removeEventListener("abort", onAbort);
    connection.off("end", onEnd);
  };
}

/**
 * Lifts the time limit. The answer to the message may take minutes, and a client that hangs up before it sends the message twice
 * (RFC 5321 §4.5.3.2.6). So only `signal` ends that wait.
 */
function liftLimit({ _socket: socket }: SmtpConnection): void {
  if (socket) socket.setTimeout(0);
}

/** Sets the time limit for every other answer: the same as when the connection was opened. */
function limitWait({ _socket: socket, options }: SmtpConnection): void {
  if (socket) socket.setTimeout(options.socketTimeout ?? 0);
}

/** Asks for headers only, since we have the message. A non-ASCII ORCPT is left out rather than encoded (RFC 6533 §3). */
function toDsnOptions({ envid, orcpt, wantsSuccess }: DsnRequest): Pick<SMTPEnvelope, "dsn"> {
  const notify = wantsSuccess ? "SUCCESS,FAILURE" : "FAILURE";
  return { dsn: { ret: "HDRS", envid, notify, ...(isAscii(orcpt) && { orcpt: `rfc822;${orcpt}` }) } };
}

/** nodemailer's `send` records replies on the envelope it is given, where they survive an error. */
interface KeptEnvelope extends SMTPEnvelope {
  accepted?: string[];
  rejectedErrors?: readonly SendError[];
  mailError?: SendError;
}

interface SendError extends Error {
  readonly code?: string | undefined;
  readonly command?: string | undefined;
  readonly response?: string | undefined;
  readonly recipient?: string | undefined;
  readonly rejectedErrors?: readonly SendError[] | undefined;
}

/** The content as a stream. Its `end` comes just before the final dot is written: after it the dot may have been sent. */
function openContent(raw: Buffer) {
  const stream = isAtOnce(raw) ? streamOf(raw) : Readable.from(octetPieces(raw), { objectMode: false });
  const seen = { isBegun: false, isSent: false };
  stream.once("resume", () => {
    seen.isBegun = true;
  });
  stream.once("end", () => {
    seen.isSent = true;
  });
  return { stream, isBegun: () => seen.isBegun, isSent: () => seen.isSent };
}

/** One push: a generator would take more turns of the event loop than the rest of the transaction. */
function streamOf(raw: Buffer): Readable {
  return new Readable({
    read() {
      this.push(raw);
      this.push(null);
    },
  });
}

function repliesOf({ accepted = [], rejectedErrors = [] }: KeptEnvelope): TransactionReport["recipients"] {
  const replies = new Map<string, "accepted" | { refusal: string }>();
  for (const address of accepted) replies.set(address, "accepted");
  for (const { recipient, response } of rejectedErrors) {
    if (recipient !== undefined) replies.set(recipient, { refusal: response ?? "" });
  }
  return replies;
}

/** `undefined` if the error is no reply of the server but a lost connection. */
function toEnd(error: SendError, { mailError }: KeptEnvelope, mayQuote: boolean): TransactionEnd | undefined {
  const senderRefusal = mailError?.response;
  if (senderRefusal !== undefined) return { kind: "sender_refused", reply: senderRefusal };
  if (error.command === "RCPT TO" && error.rejectedErrors) return { kind: "recipients_refused" };
  if (error.command === "DATA" && /^[45]/.test(error.response ?? "")) {
    return { kind: "message_refused", reply: error.response ?? "", mayQuote };
  }
  if (error.code === "EMESSAGE" && error.command === "MAIL FROM") {
    return { kind: "sender_refused", reply: TOO_LARGE };
  }
  return undefined;
}

/** Stands in for a reply when the message exceeds the SIZE in the server's EHLO (RFC 1870 §6, RFC 3463 §3.4). */
const TOO_LARGE = "552 5.3.4 the message is larger than the server takes";

/** A 250 that comes before the message is complete does not count. */
function toTakenEnd(reply: string, isSent: boolean): TransactionEnd | undefined {
  return isSent ? { kind: "taken", reply } : undefined;
}

function isUnanswered(connection: SmtpConnection): boolean {
  const last = connection.lastServerResponse;
  return last === false || isServiceClosing(last);
}

function describe(error: SendError | null): string {
  if (!error) return "the server answered before the message was over";
  return error.code === "ETIMEDOUT" ? "the server did not answer in time" : error.message;
}
