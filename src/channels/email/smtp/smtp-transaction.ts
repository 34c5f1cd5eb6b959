import { Readable } from "node:stream";
import type SmtpConnection from "nodemailer/lib/smtp-connection";
import type { SMTPEnvelope } from "nodemailer/lib/smtp-connection";
import { askForUtf8 } from "./ask-for-utf8.ts";
import { isAscii } from "./mail-address.ts";
import { isAtOnce, octetPieces } from "./mail-body.ts";
import { isServiceClosing, type TransactionEnd, type TransactionReport, toOneLine } from "./smtp-replies.ts";

export interface Envelope {
  readonly from: string;
  /** At least one, each once. */
  readonly to: readonly string[];
  /** What a server with the DSN extension is asked to tell us (RFC 3461); for an envelope with one recipient. */
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
  /** The header holds an address that only SMTPUTF8 can carry: the server is one that takes it. */
  readonly needsSmtpUtf8?: boolean;
}

/**
 * Hands one envelope to the server and reports how far it came; never rejects. `cut` ends it at once: its reason
 * (a string) is the report's. The connection is closed afterwards if its state is in doubt.
 */
export function runTransaction(
  connection: SmtpConnection,
  { from, to, dsn, raw, needsSmtpUtf8 = false }: FilledEnvelope,
  cut: AbortSignal,
): Promise<TransactionReport> {
  const envelope: KeptEnvelope = { from, to: [...to], size: raw.length, ...(dsn && toDsnOptions(dsn)) };
  const content = openContent(raw);
  const askNoMore = needsSmtpUtf8 && [from, ...to].every(isAscii) ? askForUtf8(connection) : () => {};
  return new Promise((resolve) => {
    let isSettled = false;
    const settle = (end: TransactionEnd) => {
      if (isSettled) return;
      isSettled = true;
      askNoMore();
      cut.removeEventListener("abort", onCut);
      connection.off("end", onEnd);
      // A reply in the middle of the message leaves the server in the middle of the message.
      if (end.kind === "lost" || (end.kind === "message_refused" && content.isBegun() && !content.isSent())) {
        connection.close();
      }
      resolve({ recipients: repliesOf(envelope), end });
    };
    const lose = (reason: string) =>
      settle({
        kind: "lost",
        reason: toOneLine(reason),
        wasContentSent: content.isSent(),
        wasUnanswered: isUnanswered(connection),
      });
    const onCut = () => lose(String(cut.reason));
    // Not every loss reaches the callback of `send`; those that do reach it first.
    const onEnd = () => setImmediate(lose, "the connection was lost");
    if (cut.aborted) return onCut();
    connection.lastServerResponse = false;
    cut.addEventListener("abort", onCut);
    connection.once("end", onEnd);
    connection.send(envelope, content.stream, (error, info) => {
      const end = error ? toEnd(error, envelope) : toTakenEnd(info.response, content.isSent());
      if (end) settle(end);
      else lose(describe(error));
    });
  });
}

/** Headers suffice: the message is ours. A non-ASCII address is left out rather than disguised (RFC 6533 §3). */
function toDsnOptions({ envid, orcpt, wantsSuccess }: DsnRequest): Pick<SMTPEnvelope, "dsn"> {
  const notify = wantsSuccess ? "SUCCESS,FAILURE" : "FAILURE";
  return { dsn: { ret: "HDRS", envid, notify, ...(isAscii(orcpt) && { orcpt: `rfc822;${orcpt}` }) } };
}

/** `send` keeps its books on the envelope it is given, where they outlive an error. */
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

/** `end` of the stream comes before the final dot is written and after everything before it: it tells the two apart. */
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

/** A generator costs more turns of the loop than the rest of the transaction. */
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

/** `undefined` where the error is a loss and not an answer. */
function toEnd(error: SendError, { mailError }: KeptEnvelope): TransactionEnd | undefined {
  const senderRefusal = mailError?.response;
  if (senderRefusal !== undefined) return { kind: "sender_refused", reply: senderRefusal };
  if (error.command === "RCPT TO" && error.rejectedErrors) return { kind: "recipients_refused" };
  if (error.command === "DATA" && /^[45]/.test(error.response ?? "")) {
    return { kind: "message_refused", reply: error.response ?? "" };
  }
  if (error.code === "EMESSAGE" && error.command === "MAIL FROM") {
    return { kind: "sender_refused", reply: TOO_LARGE };
  }
  return undefined;
}

/** Said by us in the server's place: its EHLO named a limit. RFC 1870 §6, RFC 3463 §3.4. */
const TOO_LARGE = "552 5.3.4 the message is larger than the server takes";

/** A yes before the message is over is no yes. */
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
