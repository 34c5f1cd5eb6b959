import type { MessageError } from "../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../core/messages/outcome.ts";
import { isOpen } from "../core/messages/part.ts";
import type { NextStep } from "../core/messages/progress.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import { nextAttemptAt, RETRY_POLICIES } from "../core/queue/retry-policy.ts";
import type { Route } from "../core/records/accounts.ts";
import { deferralDetail } from "../core/sms/promotional-hours.ts";

export interface Verdict {
  readonly now: number;
  readonly connectorId: string;
  /** In [0, 1). */
  readonly jitter: number;
}

/** What an attempt came to, turned into what shall be stored: which parts are done, and whether and when to try again. */
export function judge(job: ClaimedJob, outcome: SendOutcome, verdict: Verdict): Settlement {
  return {
    ...settlementOf(job, verdict.now),
    connectorId: verdict.connectorId,
    countsAsAttempt: outcome.countsAsAttempt,
    outcomes: withDoubts(job, outcome.parts),
    ...(outcome.detail && { detail: outcome.detail }),
    next: nextStep(job, outcome, verdict),
  };
}

/** The job's window is over before anything was handed over; unless an attempt before this one did, and was never heard of again. */
export function judgeExpired(job: ClaimedJob, now: number): Settlement {
  const end = job.wasInterrupted ? "unconfirmed" : "window_over";
  return { ...settlementOf(job, now), next: { kind: "done", end } };
}

/** Nothing is left to do: its message was settled in another way. */
export function judgeSettled(job: ClaimedJob, now: number): Settlement {
  return { ...settlementOf(job, now), next: { kind: "done" } };
}

/**
 * An earlier lease ran out in mid-attempt, or no answer came, and the account wants no second sending on suspicion.
 * `uncounted`: how many parts it has, where no attempt has told yet: a receipt for one of them is no word of the others.
 */
export function judgeHeld(job: ClaimedJob, now: number, uncounted = 1): Settlement {
  const held: PartOutcome = { kind: "unconfirmed", error: MAY_HAVE_LEFT };
  const counted = job.progress.parts;
  const parts =
    counted.length > 0 ? counted : Array.from({ length: uncounted }, () => ({ status: "pending" as const }));
  return {
    ...settlementOf(job, now),
    outcomes: parts.map((part, index) => (isOpen(part) && covers(job, index) ? held : undefined)),
    next: { kind: "held", dueAt: job.expiresAt },
  };
}

const MAY_HAVE_LEFT: MessageError = {
  code: "unconfirmed",
  message: "it may have been sent before the process stopped",
};

/** What an interrupted attempt may have sent stays in doubt until a later one sends it, or is refused. */
function withDoubts(job: ClaimedJob, outcomes: Settlement["outcomes"]): Settlement["outcomes"] {
  if (!job.wasInterrupted) return outcomes;
  const { parts } = job.progress;
  return Array.from({ length: Math.max(1, parts.length, outcomes.length) }, (_, index) => {
    const { [index]: outcome = PUT_OFF } = outcomes;
    const isCovered = isOpen(parts[index] ?? { status: "pending" }) && covers(job, index);
    return outcome.kind === "deferred" && isCovered ? { ...outcome, mayHaveLeft: true } : outcomes[index];
  });
}

const PUT_OFF: PartOutcome = { kind: "deferred", error: MAY_HAVE_LEFT };

/** It may not go out at this time of the day. */
export function judgeDeferred(job: ClaimedJob, verdict: { now: number; mayGoAt: number }): Settlement {
  const dueAt = Math.min(job.expiresAt, verdict.mayGoAt);
  return {
    ...settlementOf(job, verdict.now),
    outcomes: withDoubts(job, []),
    detail: deferralDetail(job, verdict.mayGoAt),
    next: { kind: "again", dueAt },
  };
}

/** The message is another connector's, and waits for that one. */
export function judgeElsewhere(
  job: ClaimedJob,
  verdict: { readonly now: number; readonly owner: string; readonly waitMs: number },
): Settlement {
  const dueAt = Math.min(job.expiresAt, verdict.now + verdict.waitMs);
  return {
    ...settlementOf(job, verdict.now),
    outcomes: withDoubts(job, []),
    detail: { waits_for: verdict.owner },
    next: { kind: "again", dueAt, ...repeatOf(job) },
  };
}

/**
 * The connector a message belongs to, if any. One that has taken some of an SMS's segments gets the rest as well:
 * segments that come from two may differ in sender and encoding, and a handset would not join them. And one that may
 * have taken it, its answer being lost, unless the route lets others try.
 */
export function ownerOf(job: ClaimedJob, failover: Route["failover"]): string | undefined {
  return takenInPartBy(job) ?? (failover === "always" ? undefined : mayBeTakenBy(job));
}

/** Of what waits again and again the 1st, 2nd, 4th, 8th … claim is noted: a day of it shall not fill the timeline. */
function repeatOf({ claim }: ClaimedJob): { readonly isRepeat?: true } {
  return (claim & (claim - 1)) === 0 ? {} : { isRepeat: true };
}

/** All of it waits for a rate that was set here; the provider was not asked. */
function waitsForOwnPace({ parts }: SendOutcome): boolean {
  const tried = parts.filter((part) => part !== undefined);
  return tried.length > 0 && tried.every((part) => part.kind === "deferred" && part.isOwnPace === true);
}

/**
 * Whether the provider put off all that was tried, and nothing of the message is or may be with it: then another
 * connector may have it. Not an email: a host that greylists wants to see the same server again.
 */
export function isPutOff(job: ClaimedJob, { parts }: SendOutcome, failover: Route["failover"]): boolean {
  if (job.progress.channel !== "sms" || ownerOf(job, failover) !== undefined) return false;
  const tried = parts.filter((part) => part !== undefined);
  return tried.length > 0 && tried.every((part) => part.kind === "deferred" && !part.isOwnPace);
}

/** The same try goes on over another connector, at once. */
export function judgeElsewhereNow(settlement: Settlement): Settlement {
  return { ...settlement, countsAsAttempt: false, next: { kind: "again", dueAt: settlement.at } };
}

/** A part that is still open names a connector only where an attempt by that one was never confirmed. */
function mayBeTakenBy(job: ClaimedJob): string | undefined {
  const { parts } = job.progress;
  return parts.find((part, index) => isOpen(part) && covers(job, index) && part.connectorId !== undefined)
    ?.connectorId;
}

function takenInPartBy(job: ClaimedJob): string | undefined {
  if (job.progress.channel !== "sms") return undefined;
  return job.progress.parts.find((part) => !isOpen(part) && part.connectorId !== undefined)?.connectorId;
}

export function holdsUnconfirmed(job: ClaimedJob): boolean {
  return job.settings.on_unconfirmed === "hold";
}

export function covers(job: ClaimedJob, index: number): boolean {
  return job.parts === undefined || job.parts.includes(index);
}

function settlementOf(job: ClaimedJob, now: number) {
  return {
    jobId: job.jobId,
    claim: job.claim,
    messageId: job.messageId,
    at: now,
    countsAsAttempt: false,
    outcomes: [],
    keepsContent: job.settings.keep_bodies === "true",
  };
}

function nextStep(job: ClaimedJob, outcome: SendOutcome, verdict: Verdict): NextStep {
  const unsettled = stillOpen(job, outcome);
  const isHeld = (kind: string) => kind === "unconfirmed" && holdsUnconfirmed(job);
  if (unsettled.length === 0) return { kind: "done" };
  // What lacks a segment is no message: the others would be sent, and paid for, in vain.
  if (isRefusedInPart(job, outcome)) return { kind: "done", end: "attempts_spent" };
  if (unsettled.every((part) => isHeld(part.kind))) return { kind: "held", dueAt: job.expiresAt };
  const retryAfterMs = longestWait(unsettled);
  const dueAt = nextAttemptAt(RETRY_POLICIES[job.progress.channel], {
    attempt: job.attempt + (outcome.countsAsAttempt ? 1 : 0),
    counted: outcome.countsAsAttempt,
    now: verdict.now,
    expiresAt: job.expiresAt,
    jitter: verdict.jitter,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  if (dueAt === undefined) return { kind: "done", end: "attempts_spent" };
  return { kind: "again", dueAt, ...(waitsForOwnPace(outcome) && repeatOf(job)) };
}

function isRefusedInPart({ progress: { channel, parts } }: ClaimedJob, outcome: SendOutcome): boolean {
  if (channel !== "sms") return false;
  return (
    outcome.parts.some((part) => part?.kind === "rejected") || parts.some(({ status }) => status === "failed")
  );
}

type Unsettled = Exclude<PartOutcome, { kind: "sent" | "rejected" }> | { readonly kind: "untried" };

/** The parts of the job that this attempt did not settle, by what it said of them. */
function stillOpen(job: ClaimedJob, outcome: SendOutcome): readonly Unsettled[] {
  const length = Math.max(job.progress.parts.length, outcome.parts.length);
  const unsettled: Unsettled[] = [];
  for (let index = 0; index < length; index++) {
    if (!covers(job, index)) continue;
    const said = outcome.parts[index];
    if (said?.kind === "deferred" || said?.kind === "unconfirmed") unsettled.push(said);
    const { status } = job.progress.parts[index] ?? UNTRIED;
    if (!said && isOpen({ status })) unsettled.push(leftAlone(status));
  }
  return unsettled;
}

const UNTRIED = { status: "pending" } as const;

function leftAlone(status: string): Unsettled {
  return status === "unconfirmed"
    ? { kind: "unconfirmed", error: { code: "unconfirmed", message: "no answer came" } }
    : { kind: "untried" };
}

function longestWait(unsettled: readonly Unsettled[]): number | undefined {
  const waits = unsettled.flatMap((part) =>
    part.kind === "deferred" && part.retryAfterMs ? [part.retryAfterMs] : [],
  );
  return waits.length > 0 ? Math.max(...waits) : undefined;
}
