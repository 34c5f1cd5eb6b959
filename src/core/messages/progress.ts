/**
 * How a message moves: from its progress and an attempt or a receipt to its new progress and its timeline entries. Pure.
 * Both stores run these functions inside their transactions.
 */
import { foldRecipients } from "../email/email-status.ts";
import { foldSegments } from "../sms/sms-status.ts";
import { attemptDetail, attemptOccasion } from "./attempt-entry.ts";
import { saysNotDelivered, withEarlierCopy, withLaterCopy, withoutCopy } from "./copies.ts";
import type { MessageError, MessageStatus, Part, Progress, TimelineEntry } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import {
  afterOutcome,
  bare,
  type EndReason,
  ERROR_OF_END,
  endPart,
  isOpen,
  mayMove,
  withoutError,
  withoutMeanwhile,
} from "./part.ts";
import { lateReceipt, notedReceipt, receiptDetail } from "./receipt-entry.ts";
import { append, record, type Step } from "./step.ts";

/** One attempt, as far as it moves the message. */
export interface Attempt {
  readonly at: number;
  readonly connectorId?: string;
  /** That of its job, which tells it from other attempts at the message. */
  readonly claim?: number;
  /** By part index; `undefined`: not tried. Longer than `parts` where an SMS's segments are counted the first time. */
  readonly outcomes: readonly (PartOutcome | undefined)[];
  readonly detail?: TimelineEntry["detail"];
  readonly next: NextStep;
  /** The parts the job covers; absent: all. */
  readonly only?: readonly number[];
  /** It was given up before: only now the connector has said that it took a part. */
  readonly isLate?: true;
}

/** What becomes of the job: `again`: tried again (`isRepeat`: without an entry). `held`: not tried again before its window ends. `done`. */
export type NextStep =
  | { readonly kind: "again"; readonly dueAt: number; readonly isRepeat?: true }
  | { readonly kind: "held"; readonly dueAt: number }
  /** `end` says why parts that are still open will not be tried again. */
  | { readonly kind: "done"; readonly end?: EndReason };

/** True when no attempt will ever move the message again. */
export function isSettled(progress: Progress): boolean {
  const { status } = progress;
  return status !== "scheduled" && status !== "queued" && status !== "sending";
}

/** Records what one attempt came to. A job that finds its message settled, by a receipt meanwhile, leaves no trace. */
export function applyAttempt(before: Progress, attempt: Attempt): Step {
  if (isSettled(before) && attempt.connectorId === undefined) return { progress: before, entries: [] };
  const tried = mergeOutcomes(before, attempt);
  const parts = attempt.next.kind === "done" ? endOpenParts(before, tried, attempt) : tried;
  const status = statusAfter(before, parts, attempt.next);
  const error = errorOf(before, { status, parts: [...tried, ...parts] }, attempt.next);
  const after: Progress = { ...withoutError(before), parts, status, ...error };
  if (attempt.next.kind === "again" && attempt.next.isRepeat) return { progress: after, entries: [] };
  return record(before, after, attemptOccasion(before, after, attempt));
}

/**
 * Applies a receipt to one part. A final state stays: then the receipt is late, and only becomes an entry. So does one that
 * an earlier copy was not delivered, while the later one still may be.
 */
export function applyReceipt(
  before: Progress,
  partIndex: number,
  receipt: Receipt,
): Step & { readonly isLate: boolean } {
  const part = before.parts[partIndex];
  if (receipt.status === "sent" && !(part && receipt.isUnclear))
    return { progress: before, entries: [], isLate: false };
  // No attempt has counted the parts of the message, and it has ended.
  if (!part) return { ...lateReceipt(before, receipt), isLate: true };
  if (receipt.status === "complained" || receipt.status === "sent")
    return { ...notedReceipt(before, part, receipt), isLate: false };
  if (!mayMove(part.status, receipt.status)) return { ...lateReceipt(before, receipt, part), isLate: true };
  const left = before.channel === "sms" && saysNotDelivered(receipt) ? withoutCopy(part, receipt) : undefined;
  if (left) return { ...lateReceipt(withPart(before, partIndex, left), receipt, left), isLate: true };
  const moved = { ...bare(part), status: receipt.status, ...(receipt.error && { error: receipt.error }) };
  return { ...movedByReceipt(before, partIndex, { moved, receipt }), isLate: false };
}

/** `moved`: the part, in the status that the receipt says. */
function movedByReceipt(
  before: Progress,
  partIndex: number,
  { moved, receipt }: { readonly moved: Part; readonly receipt: Receipt },
): Step {
  const { parts } = withPart(before, partIndex, moved);
  const proven = proveSent(before, parts, receipt.receivedAt);
  const after = withParts(proven.progress, parts, receipt.error);
  const step = record(proven.progress, after, {
    at: receipt.receivedAt,
    kind: "receipt",
    detail: { ...receiptDetail(receipt), ...whyCutShort(before, after, partIndex) },
    // An SMS may have failed by another segment. A recipient of an email has errors of their own.
    error: receipt.error ?? (before.channel === "sms" ? after.error : undefined),
    about: { recipient: moved.address, status: moved.status },
  });
  return { progress: step.progress, entries: [...proven.entries, ...step.entries] };
}

function withPart(before: Progress, partIndex: number, part: Part): Progress {
  return { ...before, parts: before.parts.map((each, index) => (index === partIndex ? part : each)) };
}

/**
 * The progress once the provider has said more about a part. An SMS has failed with its first segment that has, whatever
 * becomes of the others: they would be sent, and paid for, in vain. Parts that are open stay so, since an attempt may be
 * sending them.
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

/** For the entry of an SMS that has just failed before all of it was sent. */
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

/** A receipt proves that an SMS whose attempt was never confirmed was sent. It becomes `sent` first, as the life cycle wants. */
function proveSent(before: Progress, parts: readonly Part[], at: number): Step {
  const isProof = before.channel === "sms" && !isSettled(before) && !parts.some(isOpen);
  return isProof
    ? record(before, { ...before, status: "sent" }, { at, kind: "status" })
    : { progress: before, entries: [] };
}

/**
 * Notes the outcome of an attempt whose lease was lost meanwhile. It moves nothing, and is kept for the operator. The
 * segments of an SMS are counted all the same, so that receipts of what was sent find them.
 */
export function noteLostSettle(before: Progress, attempt: Attempt): Step {
  const ids = attempt.outcomes.flatMap((outcome) =>
    outcome?.kind === "sent" ? outcome.providerMessageIds : [],
  );
  const counted = attempt.outcomes.slice(before.parts.length).map((): Part => ({ status: "pending" }));
  const known = before.parts.map((part, index) => withLostCopy(before.channel, part, { attempt, index }));
  return append(
    { ...before, parts: [...known, ...counted] },
    {
      at: attempt.at,
      kind: "lost_settle",
      status: before.status,
      detail: { ...attemptDetail(before, attempt), provider_message_ids: ids },
    },
  );
}

/** Where a later attempt has been taken meanwhile, this one's is an earlier copy, of which a receipt may tell. */
function withLostCopy(
  channel: Progress["channel"],
  part: Part,
  { attempt, index }: { readonly attempt: Attempt; readonly index: number },
): Part {
  const outcome = attempt.outcomes[index];
  const isTakenTwice = channel === "sms" && part.status === "sent" && outcome?.kind === "sent";
  return isTakenTwice ? withEarlierCopy(part, outcome, attempt) : part;
}

/** A lease ran out before its attempt was settled. What it tried may have been sent, also if a receipt settled the message. */
export function applyInterruption(before: Progress, at: number): Step {
  const status = before.status === "sending" ? "queued" : before.status;
  return append({ ...before, status }, { at, kind: "interrupted", status });
}

function mergeOutcomes(before: Progress, attempt: Attempt): readonly Part[] {
  const length = Math.max(before.parts.length, attempt.outcomes.length);
  return Array.from({ length }, (_, index) => {
    const known = before.parts[index] ?? uncounted(before);
    const part = attempt.isLate ? known : withoutMeanwhile(known);
    const outcome = attempt.outcomes[index];
    return outcome ? mergeOutcome(before.channel, part, { outcome, attempt }) : part;
  });
}

/** A segment that is counted only now. An earlier attempt that may have sent the message did so in whatever segments. */
function uncounted({ channel, parts }: Progress): Part {
  const last = parts.at(-1);
  if (channel !== "sms" || last?.status !== "unconfirmed") return { status: "pending" };
  const { early: _, ...doubt } = last;
  return doubt;
}

function mergeOutcome(
  channel: Progress["channel"],
  part: Part,
  { outcome, attempt }: { readonly outcome: PartOutcome; readonly attempt: Attempt },
): Part {
  if (channel === "sms" && attempt.isLate) {
    const taken = withEarlierCopy(part, outcome, attempt);
    const mayBeSentAgain = isOpen(part) && attempt.next.kind === "held";
    return mayBeSentAgain ? { ...taken, isTakenMeanwhile: true } : taken;
  }
  if (isOpen(part)) return afterOutcome(part, outcome, attempt);
  return channel === "sms" ? withLaterCopy(part, outcome, attempt) : part;
}

function endOpenParts(before: Progress, parts: readonly Part[], attempt: Attempt): readonly Part[] {
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

/** The message's error: that of the first part in its state. `after.parts`: first as the attempt left them, then as they ended. */
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
