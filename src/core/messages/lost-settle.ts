/**
 * Attempts that were settled too late: their lease was lost, and the message may have been claimed again since. Nothing that
 * such an attempt leaves to be done counts any more, but what it has sent is sent. Pure.
 */
import { attemptDetail } from "./attempt-entry.ts";
import { withEarlierCopy } from "./copies.ts";
import { settleAttempt } from "./early-failure.ts";
import { countAfterLate } from "./made-anew.ts";
import type { MessageError, Part, Progress } from "./message.ts";
import type { PartOutcome } from "./outcome.ts";
import { isOpen } from "./part.ts";
import type { EndedAttempt } from "./progress.ts";
import { append, type Step } from "./step.ts";

/**
 * Notes the outcome of an attempt whose lease was lost. Parts that it has sent, and that are still open, are sent: a later attempt
 * has nothing left to do for them, and one that is under way may make another copy. No other outcome moves a part or the message;
 * but the segments of an SMS are counted, so that receipts find them.
 */
export function noteLostSettle(before: Progress, attempt: EndedAttempt): Step {
  const made = partsMade(before, attempt);
  const count = countAfterLate({ channel: before.channel, parts: made }, attempt);
  const counted = attempt.outcomes.slice(made.length, count).map((): Part => ({ status: "pending" }));
  const known = made.map((part, index) => withLostCopy(before.channel, part, { attempt, index }));
  const progress = { ...before, parts: [...known, ...counted] };
  const detail = { ...attemptDetail(before, attempt), provider_message_ids: idsOf(attempt) };
  const taken = attempt.outcomes.map((outcome, index) =>
    isTaken(progress, outcome, index) ? outcome : undefined,
  );
  return taken.some((outcome) => outcome !== undefined)
    ? markTaken(progress, { ...attempt, detail, outcomes: taken })
    : append(progress, { at: attempt.at, kind: "lost_settle", status: before.status, detail });
}

/**
 * The parts of the message without those that are only in doubt because of this attempt, and that it has not made: while nobody knew which
 * connector it was over, they were counted by the one that makes the most.
 */
function partsMade(
  { channel, parts }: Progress,
  { connectorId, claim, outcomes }: EndedAttempt,
): readonly Part[] {
  if (channel !== "sms" || connectorId === undefined || claim === undefined || outcomes.length === 0)
    return parts;
  const isSurplus = (part: Part, index: number) =>
    index >= outcomes.length &&
    part.status === "unconfirmed" &&
    part.connectorId === undefined &&
    part.claim === claim;
  return parts.filter((part, index) => !isSurplus(part, index));
}

/** The attempt has sent nothing, since it ended before anything was handed over. */
export const NOT_SENT: MessageError = { code: "not_sent", message: "the attempt had handed nothing over" };

/** Notes that an attempt that was taken for interrupted has sent nothing. */
export function noteLateRelease(before: Progress, at: number): Step {
  return append(before, { at, kind: "late_answer", status: before.status, error: NOT_SENT });
}

function idsOf({ outcomes }: EndedAttempt): readonly string[] {
  return outcomes.flatMap((outcome) => (outcome?.kind === "sent" ? outcome.providerMessageIds : []));
}

/** Whether the attempt has sent a part that is still to be tried, or that nobody knows to be sent. */
function isTaken({ parts }: Progress, outcome: PartOutcome | undefined, index: number): boolean {
  const part = parts[index];
  return outcome?.kind === "sent" && part !== undefined && isOpen(part);
}

/** What is left open goes on as it was: in line, or with the attempt that is under way. */
function markTaken(before: Progress, attempt: EndedAttempt): Step {
  const next = { kind: before.status === "queued" ? "again" : "held", dueAt: attempt.at } as const;
  return settleAttempt(before, { ...attempt, isLate: true, toldAs: "lost_settle", next });
}

/** If a later attempt has sent the part meanwhile, this one has made an earlier copy, which a receipt may be about. */
function withLostCopy(
  channel: Progress["channel"],
  part: Part,
  { attempt, index }: { readonly attempt: EndedAttempt; readonly index: number },
): Part {
  const outcome = attempt.outcomes[index];
  const isTakenTwice = channel === "sms" && part.status === "sent" && outcome?.kind === "sent";
  return isTakenTwice ? withEarlierCopy(part, outcome, attempt) : part;
}
