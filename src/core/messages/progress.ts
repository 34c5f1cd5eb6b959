/**
 * How a message moves: an attempt or a receipt turns its progress into a new progress, with timeline entries. Pure. Both
 * engines run these functions inside their transactions.
 */
import { foldRecipients } from "../email/email-status.ts";
import { foldSegments } from "../sms/sms-status.ts";
import { attemptOccasion } from "./attempt-entry.ts";
import { saysNotDelivered, withEarlierCopy, withLaterCopy, withoutCopy } from "./copies.ts";
import { countAfter, countAfterLate } from "./made-anew.ts";
import type { MessageError, MessageStatus, Part, Progress, TimelineEntry } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import {
  afterOutcome,
  bare,
  type EndReason,
  ERROR_OF_END,
  endPart,
  isOpen,
  MAY_HAVE_LEFT,
  mayMove,
  withoutError,
  withoutMeanwhile,
} from "./part.ts";
import { lateReceipt, notedReceipt, receiptDetail } from "./receipt-entry.ts";
import { append, record, type Step } from "./step.ts";

/** An attempt, with everything that moves the message. */
export interface EndedAttempt {
  readonly at: number;
  readonly connectorId?: string;
  /** The job's claim, which tells this attempt from others at the message. */
  readonly claim?: number;
  /** By index of the part; `undefined`: not tried. Longer than `parts` if this attempt is the first to count an SMS's segments. */
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: NextStep;
  /** The indexes of the parts that the job covers; absent: all. */
  readonly only?: readonly number[];
  /** The attempt was settled earlier, and only now its connector has answered that it took a part. */
  readonly isLate?: true;
  /** The kind of its timeline entry; absent: `attempt`. */
  readonly toldAs?: "late_answer" | "lost_settle";
}

/** What becomes of the job. */
export type NextStep =
  /** It is tried again. `isRepeat`: no timeline entry is needed for this attempt. */
  | { readonly kind: "again"; readonly dueAt: number; readonly isRepeat?: true }
  /** It is not tried again, and waits until its window ends (`dueAt`), in case a receipt comes. */
  | { readonly kind: "held"; readonly dueAt: number }
  /** It has ended. `end`: why parts that are still open will not be tried again. */
  | { readonly kind: "done"; readonly end?: EndReason };

/** Whether no attempt can move the message any more. A receipt may. */
export function isSettled(progress: Progress): boolean {
  const { status } = progress;
  return status !== "scheduled" && status !== "queued" && status !== "sending";
}

/** Whether a step settles the message: then its waiting jobs have nothing left to do. */
export function settles(before: Progress, { progress }: Step): boolean {
  return !isSettled(before) && isSettled(progress);
}

/** Applies the outcome of an attempt. A job that was not tried, because a receipt had settled its message, leaves no trace. */
export function applyAttempt(before: Progress, attempt: EndedAttempt): Step {
  if (isSettled(before) && attempt.connectorId === undefined) return { progress: before, entries: [] };
  const tried = mergeOutcomes(before, attempt);
  const parts = attempt.next.kind === "done" ? endOpenParts(before, tried, attempt) : tried;
  const status = statusAfter(before, parts, attempt.next);
  const error = errorOf(before, { status, parts: [...tried, ...parts] }, attempt.next);
  const after: Progress = { ...withoutError(before), parts, status, ...error };
  if (attempt.next.kind === "again" && attempt.next.isRepeat) return { progress: after, entries: [] };
  return record(before, after, attemptOccasion(before, after, attempt));
}

export interface ReceiptStep extends Step {
  /** The receipt came too late to change a status, and was only noted. */
  readonly isLate: boolean;
}

/**
 * Applies a receipt to one part. A final status stays (`mayMove` has the one exception): then the receipt is late, and only noted
 * on the timeline. So is the failure of one copy while another may still be delivered.
 */
export function applyReceipt(before: Progress, partIndex: number, receipt: Receipt): ReceiptStep {
  const part = before.parts[partIndex];
  if (receipt.status === "sent" && !(part && receipt.isUnclear))
    return { progress: before, entries: [], isLate: false };
  // The message ended before any attempt had counted its parts.
  if (!part) return { ...lateReceipt(before, receipt), isLate: true };
  if (receipt.status === "complained" || receipt.status === "sent")
    return { ...notedReceipt(before, receipt, part), isLate: false };
  if (!mayMove(part.status, receipt.status)) return { ...lateReceipt(before, receipt, part), isLate: true };
  const left = before.channel === "sms" && saysNotDelivered(receipt) ? withoutCopy(part, receipt) : undefined;
  if (left) {
    const after = withPart(before, partIndex, () => left);
    return { ...lateReceipt(after, receipt, left), isLate: true };
  }
  const hasFailed = before.channel === "email" && receipt.status !== "delivered";
  const moved = {
    ...bare(part),
    ...(hasFailed && MAY_HAVE_LEFT),
    status: receipt.status,
    ...(receipt.error && { error: receipt.error }),
  };
  return { ...movedByReceipt(before, partIndex, { moved, receipt }), isLate: false };
}

/** `moved`: the part, in the status that the receipt reports. */
function movedByReceipt(
  before: Progress,
  partIndex: number,
  {
    moved,
    receipt,
  }: { readonly moved: Part & { readonly status: MessageStatus }; readonly receipt: Receipt },
): Step {
  const { parts } = withPart(before, partIndex, () => moved);
  const proven = proveSent(before, parts, receipt.receivedAt);
  const after = withParts(proven.progress, parts, receipt.error);
  const step = record(proven.progress, after, {
    at: receipt.receivedAt,
    kind: "receipt",
    detail: { ...receiptDetail(receipt), ...whyCutShort(before, after, partIndex) },
    // An SMS may have failed because of another segment. Each recipient of an email has an error of its own.
    error: receipt.error ?? (before.channel === "sms" ? after.error : undefined),
    about: { recipient: moved.address, status: moved.status },
  });
  return { progress: step.progress, entries: [...proven.entries, ...step.entries] };
}

/** The progress with one of its parts changed. */
export function withPart(before: Progress, partIndex: number, change: (part: Part) => Part): Progress {
  return { ...before, parts: before.parts.map((part, index) => (index === partIndex ? change(part) : part)) };
}

/**
 * The progress with these parts, one of which has just changed. An SMS fails with the first of its segments that fails: the
 * others would be sent, and paid for, in vain. Open parts stay open, since an attempt may be sending them.
 *
 * @param told the error that the provider gave for the part
 */
export function withParts(
  before: Progress,
  parts: readonly Part[],
  told: MessageError | undefined,
): Progress {
  const hasFailed = before.channel === "sms" && parts.some(({ status }) => status === "failed");
  const isDecided = hasFailed || !parts.some(isOpen);
  const status = !isDecided || isFinalSms(before) ? before.status : fold(before, parts);
  const ofPart = parts.find((part) => part.status === status)?.error;
  const error = isFailure(status) ? (told ?? ofPart ?? before.error) : undefined;
  return { ...withoutError(before), parts, status, ...(error && { error }) };
}

/** The detail for the entry of an SMS that has just failed before all of its segments were sent; else empty. */
export function whyCutShort(
  before: Progress,
  { channel, status, parts }: Progress,
  failed: number,
): { readonly reason?: string } {
  const hasFailed = channel === "sms" && status === "failed" && before.status !== "failed";
  if (!hasFailed || !parts.some(isOpen)) return {};
  const unsent = parts.filter((part) => part.status === "pending").length;
  return { reason: `segment ${failed + 1} was rejected; not sent: ${unsent} of ${parts.length}` };
}

/** The step to `sent`, which the life cycle requires first, if a receipt proves that an unconfirmed SMS was sent; else no change. */
function proveSent(before: Progress, parts: readonly Part[], at: number): Step {
  const isProof = before.channel === "sms" && !isSettled(before) && !parts.some(isOpen);
  return isProof
    ? record(before, { ...before, status: "sent" }, { at, kind: "status" })
    : { progress: before, entries: [] };
}

/** Notes that a lease ran out before its attempt was settled. The attempt may have sent parts, even if the message is settled. */
export function applyInterruption(before: Progress, at: number): Step {
  const status = before.status === "sending" ? "queued" : before.status;
  return append({ ...before, status }, { at, kind: "interrupted", status });
}

function mergeOutcomes(before: Progress, attempt: EndedAttempt): readonly Part[] {
  const { isLate, outcomes } = attempt;
  const length = isLate ? countAfterLate(before, attempt) : countAfter(before, outcomes);
  return Array.from({ length }, (_, index) => {
    const known = before.parts[index] ?? uncounted(before);
    const part = isLate ? known : withoutMeanwhile(known);
    const outcome = outcomes[index];
    return outcome ? mergeOutcome(before.channel, part, { outcome, attempt }) : part;
  });
}

/** A segment that no attempt had counted. If an earlier attempt may have sent the message, it may have sent this segment too. */
function uncounted({ channel, parts }: Progress): Part {
  const last = parts.at(-1);
  if (channel !== "sms" || last?.status !== "unconfirmed") return { status: "pending" };
  const { early: _, ...doubt } = last;
  return doubt;
}

function mergeOutcome(
  channel: Progress["channel"],
  part: Part,
  { outcome, attempt }: { readonly outcome: PartOutcome; readonly attempt: EndedAttempt },
): Part {
  if (channel === "sms" && attempt.isLate) {
    const taken = withEarlierCopy(part, outcome, attempt);
    const mayBeSentAgain = isOpen(part) && attempt.next.kind === "held";
    return mayBeSentAgain ? { ...taken, isTakenMeanwhile: true } : taken;
  }
  if (isOpen(part)) return afterOutcome(part, outcome, attempt);
  return channel === "sms" ? withLaterCopy(part, outcome, attempt) : part;
}

function endOpenParts(before: Progress, parts: readonly Part[], attempt: EndedAttempt): readonly Part[] {
  const end = attempt.next.kind === "done" ? attempt.next.end : undefined;
  if (!end) return parts;
  const covered = (index: number) => attempt.only === undefined || attempt.only.includes(index);
  return parts.map((part, index) =>
    isOpen(part) && covered(index) ? endPart(before.channel, part, end) : part,
  );
}

function statusAfter(before: Progress, parts: readonly Part[], next: NextStep): MessageStatus {
  if (isSettled(before)) return before.status;
  if (parts.length > 0 && !parts.some(isOpen)) return fold(before, parts);
  if (next.kind === "again") return "queued";
  if (next.kind === "held") return "sending";
  if (parts.length === 0) return next.end === "window_over" ? "expired" : "failed";
  return before.status;
}

function fold(before: Progress, parts: readonly Part[]): MessageStatus {
  return before.channel === "sms" ? foldSegments(parts) : foldRecipients(parts);
}

function isFinalSms(progress: Progress): boolean {
  return progress.channel === "sms" && isSettled(progress) && progress.status !== "sent";
}

function isFailure(status: MessageStatus): boolean {
  return status === "failed" || status === "undelivered" || status === "expired" || status === "bounced";
}

/**
 * The message's error: that of the first part with the message's status.
 *
 * @param after lists its `parts` twice: as the attempt left them, and as they ended. So the provider's error is found first
 */
function errorOf(
  before: Progress,
  after: Pick<Progress, "status" | "parts">,
  next: NextStep,
): { error?: MessageError } {
  if (isSettled(before)) return before.error ? { error: before.error } : {};
  if (!isFailure(after.status)) return {};
  const error = after.parts.find((part) => part.status === after.status)?.error;
  const end = next.kind === "done" ? next.end : undefined;
  return { error: error ?? ERROR_OF_END[end ?? "window_over"] };
}
