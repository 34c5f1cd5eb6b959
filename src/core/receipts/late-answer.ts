import { settleAttempt } from "../messages/early-failure.ts";
import type { Part, Progress, TimelineEntry } from "../messages/message.ts";
import type { PartOutcome, PartRef } from "../messages/outcome.ts";
import { afterOutcome, isOpen } from "../messages/part.ts";
import { applyAttempt, isSettled, whyCutShort, withParts } from "../messages/progress.ts";
import { append, record, type Step } from "../messages/step.ts";
import { present } from "../present.ts";
import { nextAttemptAt, RETRY_POLICIES } from "../queue/retry-policy.ts";

/** A late answer: the provider had taken a part that was settled as `unconfirmed`. The part may have been sent again since. */
export interface LateAnswer extends PartRef {
  readonly connectorId: string;
  /** How many parts the message has. */
  readonly parts: number;
  /** See `PartOutcome`, `sent`. */
  readonly providerMessageIds: readonly string[];
  readonly expectsReceipt?: false;
  readonly joinedBy?: string;
  /** See `SendOutcome`. */
  readonly detail?: Readonly<Record<string, string | number | boolean>>;
}

/**
 * A late refusal: the provider had refused or deferred a part that was settled as `unconfirmed`. An email is only deferred, so that it
 * is tried again: a host that refuses a recipient does so again, and is heard in time.
 */
export interface LateRefusal extends Pick<PartRef, "messageId"> {
  /** The job of the attempt. May be absent if the message has only one. */
  readonly jobId?: number;
  readonly connectorId: string;
  /** The index of the part; absent: all of the job, since nothing was handed over. */
  readonly part?: number;
  /** The claim that the attempt was made under: see `ClaimedJob`. */
  readonly claim: number;
  readonly outcome: Extract<PartOutcome, { kind: "rejected" | "deferred" }>;
}

/**
 * Marks a part as sent if it is still open. If an SMS's part has been sent since, it gets another copy; if the part has ended, the
 * answer is only noted. If no part is open any more, the message is settled, and an attempt under way has nothing left to do.
 */
export function applyLateAnswer(before: Progress, answer: LateAnswer, at: number): Step {
  const { connectorId, part, providerMessageIds, joinedBy } = answer;
  const length = Math.max(answer.parts, before.parts.length);
  return settleAttempt(before, {
    at,
    connectorId,
    isLate: true,
    toldAs: "late_answer",
    outcomes: Array.from({ length }, (_, index) =>
      index === part ? { kind: "sent", providerMessageIds, ...present({ joinedBy }) } : undefined,
    ),
    detail: { ...answer.detail, part, provider_message_ids: providerMessageIds },
    next: { kind: before.status === "queued" ? "again" : "held", dueAt: at },
  });
}

/** The attempt's job at the time of a late refusal. */
export interface RefusedJob {
  /** The indexes of the parts that it covers; absent: all. */
  readonly parts?: readonly number[];
  readonly isLeased: boolean;
  /** It waits for the end of the delivery window. */
  readonly isHeld: boolean;
  readonly attempt: number;
  /** End of the delivery window, Unix milliseconds. */
  readonly deadline: number;
  /** The account wants nothing to be sent twice, so no attempt under way covers an unconfirmed part. */
  readonly isHolding: boolean;
}

export interface RefusalStep extends Step {
  /** When the job is due; absent: as before. */
  readonly dueAt?: number;
}

/**
 * Applies a late refusal like one that came in time, if no other attempt may have sent the part; otherwise only notes it on the
 * timeline. `undefined`: which of the two it must do depends on an attempt that is under way.
 */
export function applyLateRefusal(
  before: Progress,
  refusal: LateRefusal,
  { at, job }: { readonly at: number; readonly job: RefusedJob | undefined },
): RefusalStep | undefined {
  const about = before.parts.filter((_, index) => isAbout(refusal, job, index));
  const areOver = about.length > 0 && !about.some(isOpen);
  if (!job || isSettled(before) || areOver) return noteRefusal(before, refusal, at);
  const unsent = new Set(about.filter((part) => isInDoubtFor(part, refusal)));
  const [first] = unsent;
  const isRejected = refusal.outcome.kind === "rejected";
  if (job.isLeased && !(first && isRejected && job.isHolding)) return undefined;
  if (!first) return noteRefusal(before, refusal, at);
  return isRejected
    ? reject(before, refusal, { at, part: first })
    : defer(before, refusal, { at, job, unsent });
}

function isAbout({ part }: LateRefusal, job: RefusedJob | undefined, index: number): boolean {
  if (part !== undefined) return part === index;
  return job?.parts === undefined || job.parts.includes(index);
}

/** Whether the attempt that the refusal is about is the only one that may have sent the part. */
function isInDoubtFor({ status, claim }: Part, refusal: LateRefusal): boolean {
  return status === "unconfirmed" && claim === refusal.claim;
}

function noteRefusal(before: Progress, refusal: LateRefusal, at: number): Step {
  const { error } = refusal.outcome;
  const detail = { ...detailOf(refusal), connector: refusal.connectorId };
  return append(before, { at, kind: "late_answer", status: before.status, detail, error });
}

/** The message fails. Its other parts stay as they are, since an attempt may be sending them. */
function reject(
  before: Progress,
  refusal: LateRefusal,
  { at, part: refused }: { readonly at: number; readonly part: Part },
): Step {
  const { outcome, connectorId } = refusal;
  const index = before.parts.indexOf(refused);
  const parts = before.parts.map((part) =>
    part === refused ? afterOutcome(part, outcome, { connectorId }) : part,
  );
  const after = withParts(before, parts, outcome.error);
  const detail = { ...detailOf(refusal), connector: connectorId, ...whyCutShort(before, after, index) };
  return record(before, after, { at, kind: "late_answer", detail, error: outcome.error });
}

/** The parts are to be sent again. If the message was held, its job gets a new due time; otherwise it keeps that of its retry. */
function defer(
  before: Progress,
  refusal: LateRefusal,
  { at, job, unsent }: { readonly at: number; readonly job: RefusedJob; readonly unsent: ReadonlySet<Part> },
): RefusalStep {
  const { outcome, connectorId } = refusal;
  // An email may be `sending` for the sake of another job.
  const isHeld = before.channel === "sms" ? before.status === "sending" : job.isHeld;
  const dueAt = isHeld ? nextDueAt(before, refusal, { at, job }) : undefined;
  const isSpent = isHeld && dueAt === undefined;
  const parts = before.parts.map((part) => (unsent.has(part) ? untried(part) : part));
  const step = applyAttempt(
    { ...before, parts },
    {
      at,
      connectorId,
      toldAs: "late_answer",
      outcomes: before.parts.map((part) => (unsent.has(part) ? outcome : undefined)),
      detail: detailOf(refusal),
      next: isSpent ? { kind: "done", end: "attempts_spent" } : { kind: "again", dueAt: dueAt ?? at },
    },
  );
  return { ...step, ...(dueAt !== undefined && { dueAt }) };
}

function untried({ address }: Part): Part {
  return present({ status: "pending" as const, address });
}

/** The next attempt by the retry policy, without jitter. */
function nextDueAt(
  { channel }: Progress,
  { outcome }: LateRefusal,
  { at, job }: { readonly at: number; readonly job: RefusedJob },
): number | undefined {
  const retryAfterMs = outcome.kind === "deferred" ? outcome.retryAfterMs : undefined;
  return nextAttemptAt(RETRY_POLICIES[channel], {
    attempt: job.attempt,
    counted: true,
    now: at,
    expiresAt: job.deadline,
    jitter: 0.5,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}

function detailOf({ part }: LateRefusal): NonNullable<TimelineEntry["detail"]> {
  return part === undefined ? {} : { part };
}
