/**
 * Early failures: a receipt says that a copy of an SMS was not delivered, while an attempt may be sending another copy, which
 * may still be delivered. The part keeps the failure (`Part.early`) until that attempt is over. Then the failure is applied as
 * if it had come right after the attempt, or kept longer if the part will be tried again (`turnOf`). Pure.
 */
import { hasCopyAt, withFailedCopy } from "./copies.ts";
import type { EarlyFailure, Part, Progress, TimelineEntry } from "./message.ts";
import type { PartOutcome, Receipt } from "./outcome.ts";
import { isOpen, withoutEarly } from "./part.ts";
import { applyAttempt, applyReceipt, type EndedAttempt, type ReceiptStep, withPart } from "./progress.ts";
import type { Step } from "./step.ts";

/**
 * Keeps a failure with its part. A part keeps only the first failure. But one that names the message by our id, and so is parked
 * as well, is replaced by one with the provider's id.
 *
 * @param size segments and encoding of the message, for the entry that says it was sent
 */
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
  const keep = (part: Part) => (isKept(part) ? part : { ...part, early });
  return { progress: withPart(before, partIndex, keep), entries: [] };
}

/** `applyAttempt`, together with the early failures that can be applied now that the attempt is over. */
export function settleAttempt(before: Progress, attempt: EndedAttempt): Step {
  if (!before.parts.some(({ early }) => early !== undefined)) return applyAttempt(before, attempt);
  const turns = before.parts.map((part, index) => turnOf(part, attempt.outcomes[index], { before, attempt }));
  const tell = (step: Step, turn: Turn): Step => {
    let told = step;
    for (const [index, part] of before.parts.entries()) {
      const { early } = part;
      if (!early || turns[index] !== turn || isFoundParked(part, early, turn)) continue;
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
 * `applyReceipt`, but first the early failures of segments that are sent and whose attempt was interrupted: if this receipt
 * leaves nothing to be sent, no other attempt comes after which they would be applied.
 */
export function settleReceipt(before: Progress, partIndex: number, receipt: Receipt): ReceiptStep {
  const told = before.parts.reduce(
    (step: Step, part, index) =>
      part.early && waitsForNone(before, part) ? tellOne(step, index, part.early) : step,
    { progress: before, entries: [] },
  );
  const step = applyReceipt(told.progress, partIndex, receipt);
  return { ...told, ...step, entries: [...told.entries, ...step.entries] };
}

/** Whether the attempt at the segment was interrupted, and no other follows, since the segment is not open. */
function waitsForNone({ status }: Progress, part: Part): boolean {
  return status === "queued" && !isOpen(part);
}

/** When an early failure is applied: before the attempt's outcome, which would end the part; after it; or after a later attempt. */
type Turn = "before" | "after" | "later";

/**
 * `later` if the part will be tried again, since the next copy may be delivered. `before` if it will not, and this attempt did
 * not try it either, or only deferred it: it fails as the receipt says. Otherwise `after`, also if an interrupted attempt may
 * have sent the part, which then ends unconfirmed.
 */
function turnOf(
  part: Part,
  outcome: PartOutcome | undefined,
  { before, attempt }: { readonly before: Progress; readonly attempt: EndedAttempt },
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

/**
 * Whether the failure is left to its parked receipt: one by our id may be about the copy of another connector that shares
 * receipts with this one, so it is parked as well, and is matched from there. Not if its connector was known to have a copy
 * before the attempt: the attempt may be over another connector, or over none, and then nothing matches what is parked.
 */
function isFoundParked(part: Part, { isOwnId, connectorId }: EarlyFailure, turn: Turn): boolean {
  return isOwnId === true && turn === "after" && !hasCopyAt(part, connectorId);
}

/** If the connector that reported the failure has just taken the part again, the ids tell whether that made a second copy. */
function besideTaken(
  step: Step,
  partIndex: number,
  { early, attempt }: { readonly early: EarlyFailure; readonly attempt: EndedAttempt },
): Step {
  const isTaken = attempt.outcomes[partIndex]?.kind === "sent" && attempt.connectorId === early.connectorId;
  if (!isTaken) return step;
  const progress = withPart(step.progress, partIndex, (part) => withFailedCopy(part, early));
  return { ...step, progress };
}

function tellOne(step: Step, partIndex: number, { size, ...receipt }: EarlyFailure): Step {
  const untold = withPart(step.progress, partIndex, withoutEarly);
  const { progress, entries, isLate } = applyReceipt(untold, partIndex, receipt);
  const told = entries.map((entry) => withSize(entry, size));
  const part = untold.parts[partIndex];
  const isAboutIt = !isLate || (part !== undefined && hasCopyAt(part, receipt.connectorId));
  const isParked = receipt.isOwnId && isAboutIt;
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
