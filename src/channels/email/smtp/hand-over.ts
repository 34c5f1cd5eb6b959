import type { MessageError } from "../../../core/messages/message.ts";
import type { PartOutcome } from "../../../core/messages/outcome.ts";
import type { ComposedMail } from "../mail/compose-mail.ts";
import { isAscii } from "../mail/mail-address.ts";
import {
  isHostUnable,
  isOfSystem,
  isOneTooMany,
  isServiceClosing,
  isThrottled,
  isUsedUp,
  missingCredentials,
  type RecipientAnswer,
  type TransactionReport,
  toPartOutcome,
  toQueueId,
} from "./smtp-replies.ts";
import type { SmtpSession } from "./smtp-session.ts";
import type { Envelope, TransactionLimits } from "./smtp-transaction.ts";

export type Mail = ComposedMail & { readonly kind: "composed" };

/** Where connections to the server come from. */
export interface ConnectionSource {
  /** An idle connection, or a new one if there is none or `isFresh`. */
  readonly connect: (options: {
    readonly isFresh: boolean;
    readonly signal: AbortSignal;
  }) => Promise<LentSession>;
  /** `report`: what the server said, unless the connection had ended before, or nothing was sent over it. */
  readonly giveBack: (session: SmtpSession, report?: TransactionReport) => void;
}

export type LentSession =
  | { readonly session: SmtpSession; readonly isReused: boolean }
  | { readonly fault: Fault };

/** Why a server was not offered a mail. */
export interface Fault extends MessageError {
  /** Set if the server was not even asked, since it would take nothing now: after how many milliseconds it may be. */
  readonly retryAfterMs?: number;
}

export interface Handover extends TransactionLimits {
  readonly mail: Mail;
  readonly envelopes: readonly Envelope[];
  /** Whether a server that does not answer in time is left at that: each further envelope could take as long, and others wait. */
  readonly leavesSilent?: boolean;
}

/** What became of the envelopes. */
export interface HandedOver {
  /** By address, for every envelope that was offered to the server. */
  readonly outcomes: ReadonlyMap<string, PartOutcome>;
  /** Envelopes that were not offered to the server. */
  readonly left: readonly Envelope[];
  /** Envelopes that another server may take: this one did not, for a reason of its own. They have outcomes too. */
  readonly putOff: readonly Envelope[];
  /** Why the rest was not offered: no connection, no time left, or a login is required. */
  readonly fault?: Fault;
  /** Set if the last envelope was called off while the server was being told of it. It is among those that were not offered. */
  readonly wasBrokenOff?: true;
  /** Set if the server takes no mail without a login or TLS. */
  readonly wanted?: MessageError;
  /** The server says that we send too fast. */
  readonly isThrottled: boolean;
  readonly detail: Readonly<Record<string, string | number | boolean>>;
}

/** Sends the envelopes one after the other, each over a connection from `source`. Never rejects. */
export async function handOver(
  source: ConnectionSource,
  { envelopes, ...limits }: Handover,
): Promise<HandedOver> {
  const outcomes = new Map<string, PartOutcome>();
  const left = [...envelopes];
  const putOff: Envelope[] = [];
  const taken: TransactionReport[] = [];
  let detail: HandedOver["detail"] = {};
  let throttled = false;
  for (let envelope = left[0]; envelope; envelope = left[0]) {
    const tried = await tryEnvelope(source, { ...limits, envelope });
    if ("fault" in tried) {
      const { fault, brokenOff } = tried;
      const unsent = { outcomes, left, putOff, fault, isThrottled: throttled, detail };
      if (!brokenOff) return unsent;
      return { ...unsent, detail: { tls: brokenOff.isSecure, ...detail }, wasBrokenOff: true };
    }
    const { report, session } = tried;
    throttled ||= isThrottled(report);
    const behind = behindOthers(tried);
    left.splice(0, 1, ...(behind.length > 0 ? [{ ...envelope, to: behind }] : []));
    for (const address of envelope.to) {
      if (!behind.includes(address)) outcomes.set(address, outcomeFor(address, tried));
    }
    const elsewhere = envelope.to.filter(
      (address) => !behind.includes(address) && isHostsFault(tried, address),
    );
    if (elsewhere.length > 0) putOff.push({ ...envelope, to: elsewhere });
    if (report.end.kind === "taken") taken.push(report);
    detail = { tls: session.isSecure, ...(envelopes.length === 1 && queueIdIn(taken)) };
    if (limits.leavesSilent && report.end.kind === "lost" && report.end.wasSilent) break;
    const wanted = missingCredentials(report);
    if (wanted) return { outcomes, left, putOff, fault: wanted, wanted, isThrottled: throttled, detail };
  }
  return { outcomes, left, putOff, isThrottled: throttled, detail };
}

/** What became of the envelopes if none was offered. */
export function nothingHandedOver({ envelopes }: Handover, fault: Fault): HandedOver {
  return { outcomes: new Map(), left: envelopes, putOff: [], fault, isThrottled: false, detail: {} };
}

interface Tried {
  readonly envelope: Envelope;
  readonly mail: Mail;
  readonly session: SmtpSession;
  readonly report: TransactionReport;
}

interface NotTried {
  readonly fault: Fault;
  /** Over which the server was being told of the envelope when it was called off. */
  readonly brokenOff?: SmtpSession;
}

interface Trial extends Omit<Handover, "envelopes"> {
  readonly envelope: Envelope;
}

async function tryEnvelope(source: ConnectionSource, trial: Trial): Promise<Tried | NotTried> {
  const first = await tryOnce(source, trial, { isFresh: false });
  // The idle connection was dead or used up already, and nothing of this message was taken or judged: try once on a new one.
  const last = first === "stale" ? await tryOnce(source, trial, { isFresh: true }) : first;
  return last === "stale" ? { fault: NO_CONNECTION } : last;
}

export const NO_CONNECTION: MessageError = {
  code: "smtp.no_connection",
  message: "no free connection to the server",
};

export const CALLED_OFF: MessageError = {
  code: "smtp.called_off",
  message: "called off before it was handed over",
};

async function tryOnce(
  source: ConnectionSource,
  { mail, envelope, ...limits }: Trial,
  { isFresh }: { readonly isFresh: boolean },
): Promise<Tried | NotTried | "stale"> {
  const { signal, isOurs } = limits;
  if (signal.aborted) return { fault: CALLED_OFF };
  const lent = await source.connect({ isFresh, signal });
  if ("fault" in lent) return lent;
  const { session, isReused } = lent;
  const to = takenBy(session, envelope, mail);
  const isCalledOff = signal.aborted || !isOurs();
  if (isCalledOff || to.length === 0) {
    source.giveBack(session);
    return isCalledOff ? { fault: CALLED_OFF } : { envelope, mail, session, report: NOTHING_SAID };
  }
  const { raw, needsSmtpUtf8 } = mail;
  const report = await session.transact({ ...envelope, to, raw, needsSmtpUtf8 }, limits);
  const isUsed = session.messages() > 1 && isUsedUp(report);
  const isStale = isReused && (isUntouched(report) || isUsed) && !signal.aborted;
  source.giveBack(session, isStale ? undefined : report);
  if (report.end.kind === "called_off") return { fault: CALLED_OFF, brokenOff: session };
  if (isStale) return "stale";
  return { envelope, mail, session, report };
}

/** For an envelope whose addresses all need SMTPUTF8 on a server without it: nothing was sent. */
const NOTHING_SAID: TransactionReport = { recipients: new Map(), end: { kind: "recipients_refused" } };

/** The addresses that this server's extensions allow. Without SMTPUTF8: none, if the header or the sender needs it. */
function takenBy({ takesSmtpUtf8 }: SmtpSession, { to }: Envelope, mail: Mail): readonly string[] {
  if (takesSmtpUtf8) return to;
  return mail.needsSmtpUtf8 ? [] : to.filter(isAscii);
}

/** What becomes of an address that the server's extensions do not allow. */
export const NO_SMTPUTF8: PartOutcome = {
  kind: "rejected",
  error: { code: "smtp.smtputf8", message: "the server does not take international addresses (SMTPUTF8)" },
};

function isUntouched({ recipients, end }: TransactionReport): boolean {
  // What it said of a recipient before it closed counts: it is not asked the same again.
  if ([...recipients.values()].some((each) => each === "accepted" || isRefused(each))) return false;
  if (end.kind === "sender_refused") return isServiceClosing(end.reply);
  return end.kind === "lost" && end.wasUnanswered && !end.wasContentSent;
}

/**
 * The recipients that a server has not judged because of others. They are offered again at once: many servers take so many in an
 * envelope, or close after a number of refusals (Postfix: 20). If they waited, a message to many would take its hours for a few at a
 * time, and those who are refused would come first in every attempt.
 */
function behindOthers({ report, session, envelope, mail }: Tried): readonly string[] {
  const offered = takenBy(session, envelope, mail);
  if (report.end.kind === "taken") return offered.filter((address) => isOneTooMany(report, address));
  if (!hasClosed(report)) return [];
  const behind = offered.filter((address) => !isRefused(report.recipients.get(address)));
  return behind.length < offered.length ? behind : [];
}

function hasClosed({ recipients, end }: TransactionReport): boolean {
  if (end.kind === "lost") return !end.wasContentSent;
  const refusals = [...recipients.values()].flatMap((each) => (each === "accepted" ? [] : [each.refusal]));
  return [...refusals, "reply" in end ? end.reply : ""].some(isServiceClosing);
}

/** Refused by a reply that is about the recipient, and not about the connection. */
function isRefused(answer: RecipientAnswer | undefined): boolean {
  return typeof answer === "object" && !isServiceClosing(answer.refusal);
}

/**
 * Whether the server could not take mail for the address, now or because it lacks SMTPUTF8, having judged neither us nor the recipient
 * nor the message.
 */
function isHostsFault({ report, session, envelope, mail }: Tried, address: string): boolean {
  if (!takenBy(session, envelope, mail).includes(address)) return true;
  const { recipients, end } = report;
  const answer = recipients.get(address);
  if (end.kind === "sender_refused") return isHostUnable(end.reply);
  if (typeof answer === "object") return isServiceClosing(answer.refusal) && isHostUnable(answer.refusal);
  if (end.kind === "message_refused") return isOfSystem(end.reply) && isHostUnable(end.reply);
  return end.kind === "lost" && !end.wasContentSent;
}

function outcomeFor(address: string, { report, session, envelope, mail }: Tried): PartOutcome {
  if (!takenBy(session, envelope, mail).includes(address)) return NO_SMTPUTF8;
  const queueId = queueIdOf(report);
  // The queue id is the envelope's: it identifies a recipient only if there is just one.
  const ids = queueId !== undefined && envelope.to.length === 1 ? [queueId] : [];
  const outcome = toPartOutcome(report, address, ids);
  const isAsked = envelope.dsn !== undefined && session.takesDsn;
  return outcome.kind === "sent" && !isAsked ? { ...outcome, expectsReceipt: false } : outcome;
}

function queueIdOf({ end }: TransactionReport): string | undefined {
  return end.kind === "taken" ? toQueueId(end.reply) : undefined;
}

/** The server's id for the message; of several, which it has for parts of one envelope, none is the message's. */
function queueIdIn([report, ...more]: readonly TransactionReport[]): { readonly queue_id?: string } {
  const queueId = report && more.length === 0 ? queueIdOf(report) : undefined;
  return queueId === undefined ? {} : { queue_id: queueId };
}
