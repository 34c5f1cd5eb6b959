import type { MessageError } from "../../../../core/messages/message.ts";
import type { PartOutcome } from "../../../../core/messages/outcome.ts";
import { dltScrubError, type OwnCodes, type ScrubContext } from "../../dlt-scrub-codes.ts";
import type { SubmitAnswer } from "../session/submit-answer.ts";
import { type IdFormat, responseIds } from "../wire/message-id.ts";
import {
  hexStatus,
  isListed,
  STATUS_OK,
  type StatusClass,
  statusCode,
  statusWord,
} from "../wire/status-words.ts";

/** What became of one submit_sm. */
export interface SubmitResult {
  readonly outcome: PartOutcome;
  /** False if it must not use up the retry budget. */
  readonly countsAsAttempt: boolean;
  /** The class of the command_status by which it was refused. Absent: it was taken, or not answered. */
  readonly statusClass?: StatusClass;
}

/** How long nothing is sent after ESME_RTHROTTLED. */
export const THROTTLE_PAUSE_MS = 1000;

/** How long a message waits after its first ESME_RMSGQFUL. */
export const QUEUE_FULL_WAIT_MS = 30_000;

/** The wait if the message is not at fault. */
const SOON_MS = 1000;

/** The wait if another process may take the message now. */
const AT_ONCE_MS = 1;

/** How a connector's configuration reads the SMSC's answers. */
export interface AnswerReading {
  /** The connector's own classes of command_status, by number. */
  readonly statusClasses: ReadonlyMap<number, StatusClass>;
  /** The connector's own scrub codes. */
  readonly dltCodes?: OwnCodes;
  readonly idFormat: IdFormat;
  /** Whether a final receipt is asked for, whatever becomes of the message. */
  readonly hasReceipts: boolean;
}

/** Reads the answer to a submit_sm; `to`: the recipient's number. */
export function toSubmitResult(answer: SubmitAnswer, reading: AnswerReading, to: string): SubmitResult {
  switch (answer.kind) {
    case "silent":
      return unconfirmed("smpp.no_answer", "the SMSC did not answer submit_sm in time");
    case "lost":
      return answer.wasWritten
        ? unconfirmed("smpp.session_lost", `the session ended before the answer: ${answer.reason}`)
        : notTried("smpp.session_lost", answer.reason);
    case "nacked":
      return refused(answer, reading, to);
    case "answered":
      return answer.status === STATUS_OK
        ? sent(responseIds(answer.messageId, reading.idFormat), reading.hasReceipts)
        : refused(answer, reading, to);
  }
}

/** The result with how handsets are to join the segment with the others, if it was taken, or may have been. */
export function withJoining(result: SubmitResult, joinedBy: string | undefined): SubmitResult {
  const { outcome } = result;
  const mayBeThere = outcome.kind === "sent" || outcome.kind === "unconfirmed";
  if (!mayBeThere || joinedBy === undefined) return result;
  return { ...result, outcome: { ...outcome, joinedBy } };
}

/** The segment was not sent, for a reason other than the message itself. `waitMs`: how long to wait before the next try. */
export function notTried(code: string, message: string, waitMs = SOON_MS): SubmitResult {
  const retryAfterMs = Math.max(SOON_MS, Math.round(waitMs));
  return { outcome: { kind: "deferred", error: { code, message }, retryAfterMs }, countsAsAttempt: false };
}

/** The segment was not sent, because the sender's own rate is used up for now. */
export function waitsForSender(retryAfterMs: number): SubmitResult {
  return ownPace("smpp.sender_rate", "the sender is at its rate for now", retryAfterMs);
}

/** Another process has to send the segment. That counts as waiting for our own pace, so that it does not fail over. */
export function leftToOthers(code: string, message: string): SubmitResult {
  return ownPace(code, message, AT_ONCE_MS);
}

function ownPace(code: string, message: string, retryAfterMs: number): SubmitResult {
  const outcome: PartOutcome = { kind: "deferred", error: { code, message }, retryAfterMs, isOwnPace: true };
  return { outcome, countsAsAttempt: false };
}

/** The segment was sent, or may have been, and there is no answer. */
export function unconfirmed(code: string, message: string): SubmitResult {
  return { outcome: { kind: "unconfirmed", error: { code, message } }, countsAsAttempt: true };
}

function sent(providerMessageIds: readonly string[], hasReceipts: boolean): SubmitResult {
  const noReceipt = hasReceipts ? {} : ({ expectsReceipt: false } as const);
  return { outcome: { kind: "sent", providerMessageIds, ...noReceipt }, countsAsAttempt: true };
}

function refused(
  { kind, status }: { readonly kind: "nacked" | "answered"; readonly status: number },
  reading: AnswerReading,
  to: string,
): SubmitResult {
  const word = statusWord(status, reading.statusClasses);
  const statusClass = kind === "nacked" ? classOfNack(word.class) : word.class;
  const plain = { code: statusCode(status), message: `${word.words} (${word.name})` };
  const error = scrubError(status, { own: reading.dltCodes, to }) ?? plain;
  const deferral = DEFERRALS[statusClass];
  if (!deferral) return { outcome: { kind: "rejected", error }, countsAsAttempt: true, statusClass };
  const { countsAsAttempt, ...wait } = deferral;
  return { outcome: { kind: "deferred", error, ...wait }, countsAsAttempt, statusClass };
}

/** How segments are deferred, by class. Those of other classes are rejected. */
const DEFERRALS: Readonly<Partial<Record<StatusClass, Deferral>>> = {
  throttled: { countsAsAttempt: false, retryAfterMs: THROTTLE_PAUSE_MS, isAnswer: true },
  // Whose queue is full is not known here.
  full: { countsAsAttempt: false, retryAfterMs: QUEUE_FULL_WAIT_MS },
  session: { countsAsAttempt: false, retryAfterMs: SOON_MS, isAnswer: true },
  transient: { countsAsAttempt: true },
  framing: { countsAsAttempt: true },
};

interface Deferral {
  readonly countsAsAttempt: boolean;
  /** Absent: as the general retry policy says. */
  readonly retryAfterMs?: number;
  /** As of `PartOutcome`. */
  readonly isAnswer?: true;
}

/** generic_nack says that the PDU could not be read, whatever its status, unless that says to try again later. */
function classOfNack(given: StatusClass): StatusClass {
  return given === "session" || given === "permanent" ? "framing" : given;
}

/**
 * The error for a DLT scrub code (6xx, or one of the operator's own) in command_status: some SMSCs scrub before they answer. A
 * status that SMPP itself lists keeps its meaning, since an operator's own codes are meant for receipts too.
 */
function scrubError(status: number, { own = {}, to }: ScrubContext): MessageError | undefined {
  const written = [String(status), hexStatus(status)].find((each) => Object.hasOwn(own, each));
  if (written !== undefined && !isListed(status)) return dltScrubError(written, { own, to });
  return status >= 600 && status < 700 ? dltScrubError(String(status), { to }) : undefined;
}
