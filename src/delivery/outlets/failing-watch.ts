import type { ChannelStatus } from "../../channels/channel.ts";
import { CLEAR_AFTER_MS } from "../../core/alarms/alarm.ts";
import type { Failing } from "../../core/alarms/connector-trouble.ts";
import type { Clock } from "../../core/clock.ts";
import type { MessageError } from "../../core/messages/message.ts";
import type { PartOutcome, SendOutcome } from "../../core/messages/outcome.ts";
import { present } from "../../core/present.ts";
import type { ClaimedJob } from "../../core/queue/claimed-job.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";

/**
 * Whether a connector that is up fails most of what it is given: it has no credit, knows the sender no more, or its queue is full.
 * The health score does not tell. It is there to choose a connector, so it counts no rejections, and is low after seven attempts;
 * this is there to wake somebody. Attempts are counted in stretches, and a connector fails once more than half of each of the
 * last five stretches has failed. Nothing but attempts ends a stretch: a burst of bad recipients, and silence after it, is one.
 */
export interface FailingWatch {
  attempt(job: AttemptedMessage, outcome: SendOutcome): void;
  /** `undefined`: it does not fail, as far as is known, or it is not up, of which other alarms tell. To be asked every few seconds. */
  look(status: ChannelStatus): Failing | undefined;
  /** Forgets what was observed. */
  forget(): void;
}

export interface AttemptedMessage extends Pick<ClaimedJob, "messageId" | "progress"> {
  /** Its connector can never send it, so the provider was not asked. */
  readonly isRefusedHere?: boolean;
}

/** See `Channel`. */
export interface ChannelTraits {
  /** The channel's own status says when it is throttled, so a message deferred without an attempt is no sign of that. */
  readonly keepsRate: boolean;
  /** The channel talks to many hosts, so the answer of one of them says nothing against the connector. */
  readonly reachesMany: boolean;
  readonly isSimulated?: boolean;
}

/**
 * How long a stretch lasts at least, and how many there must be: five minutes, as old as a queue's oldest job is before that
 * alarms. Shorter trouble is common: a provider restarts, or throttles until the rate that it takes is found.
 */
const STRETCH_MS = MINUTE_MS;
const STRETCHES = 5;

/** The least attempts of a stretch, which lasts longer with fewer messages: what came of one or two says nothing. */
const LEAST_ATTEMPTS = 4;

/**
 * How many failures there must be. Those that may be a message's own count once for the message: the few that a campaign leaves
 * behind, tried again and again, look as bad. What a provider says of itself counts each time: where it throttles all, few
 * messages have every turn.
 */
const LEAST_FAILURES = 20;

/** More than this part of a stretch fails where a connector does, and at most that once it is mended: so one that hovers is one alarm. */
const FAILING_ABOVE = 0.5;
const MENDED_AT = 0.25;

/** Nothing is known any more of a connector that has been given nothing for so long: its routes may lead elsewhere. */
const IDLE_MS = HOUR_MS;

export function createFailingWatch(clock: Clock, traits: ChannelTraits): FailingWatch {
  let run: Counted | undefined;
  let stretch: Counted | undefined;
  let lastMs = clock.monotonicMs();
  let awaySinceMs: number | undefined;

  const forget = () => {
    run = undefined;
    stretch = undefined;
  };
  const forgetOld = (nowMs: number) => {
    // What comes back after a while may be well again. A shorter absence ends no alarm either.
    const isBack = awaySinceMs !== undefined && nowMs - awaySinceMs >= CLEAR_AFTER_MS;
    if (isBack || nowMs - lastMs >= IDLE_MS) forget();
  };
  return {
    attempt(job, outcome) {
      const tried = awaySinceMs === undefined && judgeTried(job, outcome, traits);
      if (!tried) return;
      const nowMs = clock.monotonicMs();
      forgetOld(nowMs);
      lastMs = nowMs;
      stretch ??= startStretch(nowMs);
      count(stretch, tried, { messageId: job.messageId, nowMs });
      if (nowMs - stretch.startedMs < STRETCH_MS || attemptsOf(stretch) < LEAST_ATTEMPTS) return;
      run = isBad(stretch, run) ? joined(run, stretch) : undefined;
      stretch = undefined;
    },
    look(status) {
      const nowMs = clock.monotonicMs();
      const isAway = status.state !== "up" || status.alarm !== undefined;
      awaySinceMs = isAway ? (awaySinceMs ?? nowMs) : undefined;
      forgetOld(nowMs);
      return isAway || !run || !isFailing(run) ? undefined : toFailing(run, nowMs);
    },
    forget,
  };
}

type Kind = PartOutcome["kind"];

interface Tried {
  readonly kind: Kind;
  /** Why it failed; absent if it was sent. */
  readonly error?: MessageError;
  /** It failed for a reason that is not the message's own. */
  readonly isOfProvider?: boolean;
}

/** What came of an attempt; `undefined` if that says nothing of the connector. */
function judgeTried(
  { progress, isRefusedHere }: AttemptedMessage,
  { parts, countsAsAttempt }: SendOutcome,
  { keepsRate, reachesMany, isSimulated }: ChannelTraits,
): Tried | undefined {
  if (isRefusedHere || reachesMany || isSimulated) return undefined;
  const isAsked = countsAsAttempt || !keepsRate;
  const isTaken = parts.some((part) => part?.kind === "sent");
  // What was put off of a message that was taken in part is tried again alone, and counts then.
  const failure = parts.find(
    (part) => part && !(isTaken && part.kind === "deferred") && speaksAgainst(part, isAsked),
  );
  if (failure && "error" in failure) {
    const { code, message } = failure.error;
    // A mail server's words may name a recipient.
    const error = { code, message: progress.channel === "sms" ? message : "" };
    const isOfProvider = failure.kind === "deferred" && (failure.isAnswer || !countsAsAttempt);
    return { kind: failure.kind, error, isOfProvider };
  }
  return isTaken ? { kind: "sent" } : undefined;
}

/** @param isAsked whether the provider was asked, as far as the attempt as a whole tells */
function speaksAgainst(part: PartOutcome, isAsked: boolean): boolean {
  if (part.kind === "deferred") return !part.isOwnPace && (part.isAnswer ?? isAsked);
  return part.kind === "unconfirmed" || (part.kind === "rejected" && !part.bounced);
}

/** The attempts of a stretch, or of several that were bad, one after the other: a run. */
interface Counted {
  readonly startedMs: number;
  stretches: number;
  readonly counts: Record<Kind, number>;
  /** Failures that are not a message's own. */
  ofProvider: number;
  /** Messages that failed otherwise, as many as matter. */
  readonly messages: Set<string>;
  firstFailedMs?: number;
  error?: MessageError;
}

function startStretch(startedMs: number): Counted {
  const counts = { sent: 0, deferred: 0, rejected: 0, unconfirmed: 0 };
  return { startedMs, stretches: 1, counts, ofProvider: 0, messages: new Set() };
}

function count(
  stretch: Counted,
  { kind, error, isOfProvider }: Tried,
  { messageId, nowMs }: { readonly messageId: string; readonly nowMs: number },
): void {
  stretch.counts[kind]++;
  if (!error) return;
  stretch.firstFailedMs ??= nowMs;
  stretch.error = error;
  if (isOfProvider) stretch.ofProvider++;
  else if (stretch.messages.size < LEAST_FAILURES) stretch.messages.add(messageId);
}

function attemptsOf({ counts }: Counted): number {
  return counts.sent + counts.deferred + counts.rejected + counts.unconfirmed;
}

function isBad(stretch: Counted, run: Counted | undefined): boolean {
  const all = attemptsOf(stretch);
  const limit = run && isFailing(run) ? MENDED_AT : FAILING_ABOVE;
  return all - stretch.counts.sent > limit * all;
}

function isFailing({ stretches, ofProvider, messages }: Counted): boolean {
  return stretches >= STRETCHES && ofProvider + messages.size >= LEAST_FAILURES;
}

function joined(run: Counted | undefined, stretch: Counted): Counted {
  if (!run) return stretch;
  const { counts, messages } = run;
  for (const kind of Object.keys(counts) as Kind[]) counts[kind] += stretch.counts[kind];
  for (const id of stretch.messages) if (messages.size < LEAST_FAILURES) messages.add(id);
  const ofProvider = run.ofProvider + stretch.ofProvider;
  return { ...run, stretches: run.stretches + 1, ofProvider, ...present({ error: stretch.error }) };
}

function toFailing({ counts, startedMs, firstFailedMs = startedMs, error }: Counted, nowMs: number): Failing {
  return { ...counts, lastedMs: nowMs - firstFailedMs, ...present({ error }) };
}
