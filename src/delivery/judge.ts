/** Turns the outcome of an attempt into its settlement: which parts are done, and whether and when to try again. Pure. */
import { countAfter } from "../core/messages/made-anew.ts";
import type { MessageError, PartStatus } from "../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../core/messages/outcome.ts";
import type { NextStep } from "../core/messages/progress.ts";
import {
  type ClaimedJob,
  covers,
  hasOpenPart,
  holdsUnconfirmed,
  type Settlement,
} from "../core/queue/claimed-job.ts";
import { MAX_INTERRUPTIONS, nextAttemptAt, RETRY_POLICIES } from "../core/queue/retry-policy.ts";
import { deferralDetail } from "../core/sms/promotional-hours.ts";
import { MINUTE_MS } from "../core/time/durations.ts";

export interface AttemptContext {
  readonly now: number;
  readonly connectorId: string;
  /** In [0, 1): spreads the next attempts at messages that were deferred together. */
  readonly jitter: number;
}

/** The settlement after an attempt. Below are those of jobs of which nothing was handed over. */
export function judge(job: ClaimedJob, outcome: SendOutcome, context: AttemptContext): Settlement {
  return {
    ...settlementOf(job, context.now),
    connectorId: context.connectorId,
    countsAsAttempt: outcome.countsAsAttempt,
    outcomes: withDoubts(job, outcome.parts),
    ...(outcome.detail && { detail: outcome.detail }),
    next: nextStep(job, outcome, context),
  };
}

/** The delivery window ended before this attempt sent anything. An earlier, interrupted attempt may have sent the message. */
export function judgeExpired(job: ClaimedJob, now: number): Settlement {
  const end = job.wasInterrupted ? "unconfirmed" : "window_over";
  return { ...settlementOf(job, now), next: { kind: "done", end } };
}

/** Nothing is left to do: a receipt, for example, has settled the message since the job was claimed. */
export function judgeSettled(job: ClaimedJob, now: number): Settlement {
  return { ...settlementOf(job, now), next: { kind: "done" } };
}

/**
 * The message may have been sent (a lease ran out during an attempt, or no answer came), and the account wants nothing
 * sent twice, or it may have been sent too often.
 *
 * @param uncounted how many parts the message has if no attempt has counted them yet: each waits for its own receipt
 */
export function judgeHeld(job: ClaimedJob, now: number, uncounted = 1): Settlement {
  const held: PartOutcome = {
    kind: "unconfirmed",
    error: isInterruptedTooOften(job) ? INTERRUPTED_TOO_OFTEN : MAY_HAVE_LEFT,
    ...(job.wasInterrupted && interruptedOf(job)),
  };
  const length = job.progress.parts.length || uncounted;
  return {
    ...settlementOf(job, now),
    outcomes: Array.from({ length }, (_, index) => (hasOpenPart(job, index) ? held : undefined)),
    next: { kind: "held", dueAt: job.expiresAt },
  };
}

/** Whether the message is held whatever its account wants: it may have been sent `MAX_INTERRUPTIONS` times. */
export function isInterruptedTooOften({ wasInterrupted, interruptions }: ClaimedJob): boolean {
  return wasInterrupted && interruptions >= MAX_INTERRUPTIONS;
}

/** Whose attempt the interrupted one was, if there was only one. */
function interruptedOf({ interruptedClaim: claim }: ClaimedJob) {
  return claim === undefined ? { mayHaveLeft: true as const } : { leftUnder: claim };
}

/** The message may not go out at this time of the day. */
export function judgeOutOfHours(
  job: ClaimedJob,
  { now, opensAt }: { now: number; opensAt: number },
): Settlement {
  return judgeUntried(job, now, { dueAt: opensAt, detail: deferralDetail(job, opensAt) });
}

/** The message waits for one connector, `owner`, that cannot take it now. */
export function judgeWaiting(
  job: ClaimedJob,
  { now, owner, waitMs }: { readonly now: number; readonly owner: string; readonly waitMs: number },
): Settlement {
  return judgeUntried(job, now, { dueAt: now + waitMs, detail: { waits_for: owner }, ...repeatOf(job) });
}

/** The message moves to another queue, where it is ready at once. Nothing was tried, so its timeline needs no entry. */
export function judgeElsewhere(job: ClaimedJob, now: number): Settlement {
  return judgeUntried(job, now, { dueAt: now, isRepeat: true });
}

/** The message could not be prepared, because of a bug or a damaged page: trying again at once would hardly help. */
export function judgeUnprepared(job: ClaimedJob, now: number): Settlement {
  const detail = { reason: "it could not be prepared: see the log" };
  return judgeUntried(job, now, { dueAt: now + MINUTE_MS, detail, ...repeatOf(job) });
}

/** The same settlement, except that the message is tried again at once, over another connector or channel, and no attempt is counted. */
export function judgeFailover(settlement: Settlement): Settlement {
  const next = { ...settlement.next, kind: "again" as const, dueAt: settlement.at };
  return { ...settlement, countsAsAttempt: false, next };
}

/** Nothing was tried: the message is claimed again at `dueAt`, or when its window is over, to be settled then. */
function judgeUntried(job: ClaimedJob, now: number, { dueAt, detail, isRepeat }: Untried): Settlement {
  return {
    ...settlementOf(job, now),
    outcomes: withDoubts(job, []),
    ...(detail && { detail }),
    next: { kind: "again", dueAt: Math.min(job.expiresAt, dueAt), ...(isRepeat && { isRepeat }) },
  };
}

interface Untried extends Pick<Settlement, "detail"> {
  readonly dueAt: number;
  /** Its timeline needs no entry. */
  readonly isRepeat?: true;
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

const MAY_HAVE_LEFT: MessageError = {
  code: "unconfirmed",
  message: "it may have been sent before the process stopped",
};

const INTERRUPTED_TOO_OFTEN: MessageError = {
  code: "unconfirmed",
  message: `not sent again: ${MAX_INTERRUPTIONS} attempts at it were interrupted, and any of them may have sent it`,
};

/** What an interrupted attempt may have sent stays in doubt until a later attempt is accepted or refused. */
function withDoubts(job: ClaimedJob, outcomes: Settlement["outcomes"]): Settlement["outcomes"] {
  if (!job.wasInterrupted) return outcomes;
  const length = Math.max(1, countAfter(job.progress, outcomes));
  return Array.from({ length }, (_, index) => {
    const outcome = outcomes[index] ?? ({ kind: "deferred", error: MAY_HAVE_LEFT } as const);
    if (!hasOpenPart(job, index) || (outcome.kind !== "deferred" && outcome.kind !== "unconfirmed"))
      return outcomes[index];
    return { ...outcome, mayHaveLeft: true };
  });
}

function nextStep(job: ClaimedJob, outcome: SendOutcome, context: AttemptContext): NextStep {
  const unsettled = stillOpen(job, outcome);
  if (unsettled.length === 0) return { kind: "done" };
  // Without the refused segment the SMS is of no use: its others would be sent, and paid for, in vain.
  if (isRefusedInPart(job, outcome)) return { kind: "done", end: "attempts_spent" };
  if (holdsUnconfirmed(job) && unsettled.every(({ kind }) => kind === "unconfirmed"))
    return { kind: "held", dueAt: job.expiresAt };
  const retryAfterMs = longestWait(unsettled);
  const dueAt = nextAttemptAt(RETRY_POLICIES[job.progress.channel], {
    attempt: job.attempt + (outcome.countsAsAttempt ? 1 : 0),
    counted: outcome.countsAsAttempt,
    now: context.now,
    expiresAt: job.expiresAt,
    jitter: context.jitter,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
  if (dueAt === undefined) return { kind: "done", end: "attempts_spent" };
  return { kind: "again", dueAt, ...(isRoutineWait(job, outcome) && repeatOf(job)) };
}

function isRefusedInPart({ progress }: ClaimedJob, { parts }: SendOutcome): boolean {
  return progress.channel === "sms" && parts.some((part) => part?.kind === "rejected");
}

type Unsettled = Exclude<PartOutcome, { kind: "sent" | "rejected" }> | { readonly kind: "untried" };

/** What is known of each part of the job that this attempt did not settle. */
function stillOpen(job: ClaimedJob, outcome: SendOutcome): readonly Unsettled[] {
  const length = countAfter(job.progress, outcome.parts);
  const unsettled: Unsettled[] = [];
  for (let index = 0; index < length; index++) {
    if (!covers(job, index)) continue;
    const tried = outcome.parts[index];
    if (tried?.kind === "deferred" || tried?.kind === "unconfirmed") unsettled.push(tried);
    if (!tried && hasOpenPart(job, index)) unsettled.push(asBefore(job.progress.parts[index]?.status));
  }
  return unsettled;
}

/** An open part that this attempt did not try. */
function asBefore(status: PartStatus | undefined): Unsettled {
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

/** A provider may throttle for a day, which costs no attempts. After this many claims, not every one gets a timeline entry. */
const NOTED_CLAIMS = 32;

/**
 * Whether the timeline can do without an entry for this attempt: everything that it tried was deferred, either by our own rate,
 * so that the provider was not asked, or without counting as an attempt, after many claims.
 */
function isRoutineWait({ claim }: ClaimedJob, { parts, countsAsAttempt }: SendOutcome): boolean {
  const tried = parts.filter((part) => part !== undefined);
  const isOften = !countsAsAttempt && claim > NOTED_CLAIMS;
  return tried.length > 0 && tried.every((part) => part.kind === "deferred" && (isOften || part.isOwnPace));
}

/** Of the claims of a job that keeps waiting, only the 1st, 2nd, 4th, 8th … get an entry: a day must not fill the timeline. */
function repeatOf({ claim }: ClaimedJob): { readonly isRepeat?: true } {
  const isPowerOfTwo = (claim & (claim - 1)) === 0;
  return isPowerOfTwo ? {} : { isRepeat: true };
}
