/** How a job is settled without any connector: whether its message may be sent at all, and now, and what of one that never can be. */
import type { ChannelName, MessageError } from "../core/messages/message.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import { isSettled } from "../core/messages/progress.ts";
import {
  type ClaimedJob,
  hasOpenPart,
  holdsUnconfirmed,
  type Settlement,
  WITHOUT_CONNECTOR,
} from "../core/queue/claimed-job.ts";
import { MAX_INTERRUPTIONS } from "../core/queue/retry-policy.ts";
import { earliestSendAt } from "../core/sms/promotional-hours.ts";
import { segmentSms } from "../core/sms/sms-segments.ts";
import type { AttemptDeps } from "./attempt.ts";
import {
  isInterruptedTooOften,
  judge,
  judgeExpired,
  judgeHeld,
  judgeOutOfHours,
  judgeSettled,
} from "./judge.ts";
import type { Outlet } from "./outlets/outlet.ts";
import { reportAttempt } from "./report-attempt.ts";
import { neverSent } from "./sending/never-sent.ts";
import { type Skipped, withSkipped } from "./sending/skip-suppressed.ts";

/** A delivery window with less than this left counts as over: an SMSC is told the rest in whole seconds. */
const SHORTEST_WINDOW_MS: Readonly<Record<ChannelName, number>> = { sms: 1_000, email: 1 };

type UnsentDeps = Pick<AttemptDeps, "clock" | "log" | "observe" | "prepare">;

/** The settlement of a job that must not be sent over any connector, or not now; `undefined`: it may be sent. `outlets`: of its route. */
export function judgeBefore(
  deps: UnsentDeps,
  job: ClaimedJob,
  outlets: readonly Outlet[],
): Settlement | Promise<Settlement> | undefined {
  const now = deps.clock.now();
  if (isSettled(job.progress)) return judgeSettled(job, now);
  if (job.expiresAt - now < SHORTEST_WINDOW_MS[job.progress.channel]) return judgeExpired(job, now);
  if (job.wasInterrupted) deps.observe.unconfirmed(job.progress.channel);
  const isNotSentAgain = holdsUnconfirmed(job) || isInterruptedTooOften(job) || job.isOptedOut;
  if (job.wasInterrupted && isNotSentAgain) return hold(deps, job, outlets);
  if (job.isOptedOut) return judgeImpossible(deps, job, OPTED_OUT);
  const opensAt = earliestSendAt(job, job.recipient, now);
  return opensAt > now ? judgeOutOfHours(job, { now, opensAt }) : undefined;
}

/**
 * Holds a message. Each of its parts waits for its own receipt, so if no attempt has counted them yet, they are counted here; but
 * not if that may be what ends the process: then holding was interrupted as well.
 */
async function hold(deps: UnsentDeps, job: ClaimedJob, outlets: readonly Outlet[]): Promise<Settlement> {
  const { messageId: message_id, interruptions } = job;
  if (isInterruptedTooOften(job))
    deps.log.warn(
      { message_id, interruptions },
      "a message is held: too many attempts at it were interrupted",
    );
  const isCounted = job.progress.parts.length > 0 || interruptions > MAX_INTERRUPTIONS;
  const parts = isCounted ? undefined : await countParts(deps, job, outlets);
  return judgeHeld(job, deps.clock.now(), parts);
}

/**
 * The most parts that a connector of its route makes of the message; as many as it has segments if none can say, since the attempt may
 * have been over one that is disabled by now, or no longer of the route. A part that was not counted would have no receipt of its own:
 * the message would seem to be delivered before it is. A gateway's receipt names the message, and so all of its parts.
 */
async function countParts(
  deps: UnsentDeps,
  job: ClaimedJob,
  outlets: readonly Outlet[],
): Promise<number | undefined> {
  if (job.progress.channel !== "sms") return undefined;
  const outgoing = await deps.prepare(job);
  if (outgoing.kind !== "ready" || outgoing.message.channel !== "sms") return undefined;
  const { message } = outgoing;
  const counts = outlets.flatMap(({ channel }) => channel.partsOf?.(message) ?? []);
  if (counts.length > 0) return Math.max(...counts);
  return message.text === undefined ? undefined : segmentSms(message.text).parts.length;
}

/** Settles an email all of whose remaining recipients are suppressed. */
export function judgeSkipped(deps: UnsentDeps, job: ClaimedJob, skipped: Skipped | undefined): Settlement {
  return judgeUnsent(deps, job, withSkipped({ parts: [], countsAsAttempt: false }, skipped));
}

/** The recipient opted out while the message was in the queue. */
const OPTED_OUT: MessageError = {
  code: "opted_out",
  message:
    "the recipient has opted out of messages from this sender or, if none is named, from one that the account has",
};

/** Settles a message that can never be sent. */
export function judgeImpossible(deps: UnsentDeps, job: ClaimedJob, error: MessageError): Settlement {
  const length = Math.max(1, job.progress.parts.length);
  const parts = Array.from({ length }, (_, index) =>
    hasOpenPart(job, index) ? neverSent(job, index, error) : undefined,
  );
  return judgeUnsent(deps, job, { parts, countsAsAttempt: false });
}

/** Settles a message by an outcome that was decided here, without a connector. What may have been sent waits for its receipts. */
function judgeUnsent(deps: UnsentDeps, job: ClaimedJob, outcome: SendOutcome): Settlement {
  const settlement = judge(job, outcome, {
    now: deps.clock.now(),
    connectorId: WITHOUT_CONNECTOR,
    jitter: 0,
  });
  reportAttempt(deps, job, { outcome, settlement, ms: 0 });
  if (settlement.next.kind !== "again") return settlement;
  return { ...settlement, next: { kind: "held", dueAt: job.expiresAt } };
}
