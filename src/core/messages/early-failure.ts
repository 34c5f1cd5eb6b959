/**
 * Failures that are told of a copy of an SMS while an attempt may be sending another one, which may be delivered. The part
 * keeps one until that attempt is over; then it counts as if it came right behind. Pure.
 */
import { withFailedCopy } from "./copies.ts";
import type { EarlyFailure, Part, Progress, TimelineEntry } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { isOpen, withoutEarly } from "./part.ts";
import { type Attempt, applyAttempt, applyReceipt } from "./progress.ts";
import type { Step } from "./step.ts";

/** Keeps it with its part, unless there is one; one by our id, which is parked as well, gives way. `size`: of the message, for the entry that says it was sent. */
export function keepEarlyFailure(
  before: Progress,
  partIndex: number,
  { receipt, size }: { readonly receipt: Receipt; readonly size: EarlyFailure["size"] },
): Step {
  const { connectorId, providerMessageId, isOwnId, status, error, receivedAt, raw } = receipt;
  const early: EarlyFailure = {
    connectorId,
    providerMessageId,
    status,
    receivedAt,
    size,
    ...(isOwnId && { isOwnId }),
    ...(error && { error }),
    ...(raw !== undefined && { raw }),
  };
  const isKept = ({ early: other }: Part) => other !== undefined && (isOwnId || !other.isOwnId);
  const parts = before.parts.map((part, index) =>
    index === partIndex && !isKept(part) ? { ...part, early } : part,
  );
  return { progress: { ...before, parts }, entries: [] };
}

/** `applyAttempt`, and whatever was told too early and can be judged now. */
export function settleAttempt(before: Progress, attempt: Attempt): Step {
  if (!before.parts.some(({ early }) => early !== undefined)) return applyAttempt(before, attempt);
  const turns = before.parts.map((part, index) => turnOf(part, attempt.outcomes[index], { before, attempt }));
  const tell = (step: Step, turn: Turn): Step => {
    let told = step;
    for (const [index, { early }] of before.parts.entries()) {
      if (!early || turns[index] !== turn || isFoundParked(early, turn)) continue;
      told = tellOne(besideTaken(told, index, { early, attempt }), index, early);
    }
    return told;
  };
  const untold = { ...before, parts: before.parts.map(withoutEarly) };
  const told = tell({ progress: untold, entries: [] }, "before");
  const settled = applyAttempt(told.progress, attempt);
  const after = tell({ ...told, ...settled, entries: [...told.entries, ...settled.entries] }, "after");
  const parts = after.progress.parts.map((part, index) => {
    const early = turns[index] === "later" ? before.parts[index]?.early : undefined;
    return early ? { ...part, early } : part;
  });
  return { ...after, progress: { ...after.progress, parts } };
}

/**
 * `applyReceipt`, behind whatever was told too early of a segment that is sent, and waits for an attempt that was interrupted:
 * where the receipt leaves nothing to be sent, no other attempt follows.
 */
export function settleReceipt(
  before: Progress,
  partIndex: number,
  receipt: Receipt,
): ReturnType<typeof applyReceipt> {
  const told = before.parts.reduce(
    (step: Step, part, index) =>
      part.early && waitsForNone(before, part) ? tellOne(step, index, part.early) : step,
    { progress: before, entries: [] },
  );
  const step = applyReceipt(told.progress, partIndex, receipt);
  return { ...told, ...step, entries: [...told.entries, ...step.entries] };
}

/** The attempt at the segment was interrupted, and none follows at what is sent. */
function waitsForNone({ status }: Progress, part: Part): boolean {
  return status === "queued" && !isOpen(part);
}

/** When it is told: before the attempt, which would end the part, after it, or after one of the next. */
type Turn = "before" | "after" | "later";

/**
 * What was only put off, or not tried, is tried again: the next copy may be delivered. A part that was sent is not. What an
 * interrupted attempt may have sent ends unconfirmed.
 */
function turnOf(
  part: Part,
  outcome: PartOutcome | undefined,
  { before, attempt }: { readonly before: Progress; readonly attempt: Attempt },
): Turn {
  const { next, connectorId, isLate } = attempt;
  if (isLate)
    return waitsForNone(before, part) || (outcome && before.status === "queued") ? "after" : "later";
  if (!isOpen(part)) return "after";
  const isTried = outcome !== undefined && outcome.kind !== "deferred" && connectorId !== undefined;
  if (isTried) return "after";
  if (next.kind === "again") return "later";
  return next.kind === "done" && next.end === "unconfirmed" ? "after" : "before";
}

/** Where connectors share receipts, one by our id may be about another copy: it is parked as well, and looked for there. */
function isFoundParked({ isOwnId }: EarlyFailure, turn: Turn): boolean {
  return isOwnId === true && turn === "after";
}

/** Where the connector that told it has just taken the part again, its answer says whether that is another copy. */
function besideTaken(
  step: Step,
  partIndex: number,
  { early, attempt }: { readonly early: EarlyFailure; readonly attempt: Attempt },
): Step {
  const isTaken = attempt.outcomes[partIndex]?.kind === "sent" && attempt.connectorId === early.connectorId;
  if (!isTaken) return step;
  const parts = step.progress.parts.map((part, index) =>
    index === partIndex ? withFailedCopy(part, early) : part,
  );
  return { ...step, progress: { ...step.progress, parts } };
}

function tellOne(step: Step, partIndex: number, { size, ...receipt }: EarlyFailure): Step {
  const parts = step.progress.parts.map((part, index) => (index === partIndex ? withoutEarly(part) : part));
  const { progress, entries, isLate } = applyReceipt({ ...step.progress, parts }, partIndex, receipt);
  const told = entries.map((entry) => withSize(entry, size));
  const isParked = receipt.isOwnId && !isLate;
  return {
    ...step,
    progress,
    entries: [...step.entries, ...told],
    ...(isParked && { alsoParkedAt: [...(step.alsoParkedAt ?? []), receipt.connectorId] }),
  };
}

function withSize(entry: TimelineEntry, size: EarlyFailure["size"]): TimelineEntry {
  return entry.eventType === "sms.sent" ? { ...entry, detail: { ...size, ...entry.detail } } : entry;
}
