/** Submits one segment, and applies what its answer says: to its message, to the rate, to the session. */
import type { Clock } from "../../../../core/clock.ts";
import type { LateAnswer, LateRefusal } from "../../../../core/receipts/late-answer.ts";
import type { OutgoingSms } from "../../../channel.ts";
import type { FullQueues } from "../rate/full-queues.ts";
import type { Pace } from "../rate/pace.ts";
import type { Binds } from "../session/binds.ts";
import type { Session } from "../session/session.ts";
import type { SubmitAnswer } from "../session/submit-answer.ts";
import { THROTTLE_PAUSE_MS } from "../wire/status-words.ts";
import type { AbortWatch } from "./abort-watch.ts";
import type { SubmitPlan } from "./submit-plan.ts";
import {
  type AnswerReading,
  type SubmitResult,
  toSubmitResult,
  unconfirmed,
  withJoining,
} from "./submit-result.ts";

export interface SegmentSubmitter {
  readonly clock: Clock;
  readonly binds: Pick<Binds, "replace">;
  readonly pace: Pick<Pace, "slowDown" | "accepted">;
  readonly fullQueues: FullQueues;
  readonly abortWatch: AbortWatch;
  /** How answers are read at present. */
  readonly reading: () => AnswerReading;
  readonly onLateAnswer: (
    answer: Omit<LateAnswer, "connectorId"> | Omit<LateRefusal, "connectorId">,
  ) => Promise<void>;
}

/** What a segment is told of the attempt that it belongs to. */
export interface AttemptOfSegment {
  readonly message: OutgoingSms;
  readonly plan: SubmitPlan;
  readonly signal: AbortSignal;
  /** Set once a segment is refused: the result of the others, which are not sent. */
  refused: SubmitResult | undefined;
}

export interface Segment {
  readonly attempt: AttemptOfSegment;
  readonly segment: number;
  /** Its validity period. */
  readonly validMs: number;
}

/** Resolves once it is answered, or the attempt is aborted; gives the slot of the session's window back with the answer. */
export function submitSegment(
  submitter: SegmentSubmitter,
  session: Session,
  { attempt, segment, validMs }: Segment,
): Promise<SubmitResult> {
  const sentAtMs = submitter.clock.monotonicMs();
  const body = attempt.plan.body(segment, validMs);
  const { joinedBy } = attempt.plan;
  const read = (answer: SubmitAnswer) =>
    withJoining(toSubmitResult(answer, submitter.reading(), attempt.message.to), joinedBy);
  const onLate = (answer: SubmitAnswer) => {
    const result = read(answer);
    heedRefusal(attempt, result);
    return tellLate(submitter, attempt, { segment, result });
  };
  return new Promise((resolve) => {
    let isReported = false;
    const report = (result: SubmitResult) => {
      isReported = true;
      resolve(result);
    };
    const stopWatching = submitter.abortWatch.watch(attempt.signal, () => report(CUT_OFF));
    void session.submit(body, onLate).then((answer) => {
      stopWatching();
      const result = heedFullQueue(submitter, read(answer), { sentAtMs, message: attempt.message });
      react(submitter, session, { result, sentAtMs });
      heedRefusal(attempt, result);
      if (!isReported) report(result);
      else if (answer.kind !== "lost") void tellLate(submitter, attempt, { segment, result });
      // Only now, so that the next segment already knows what this answer has changed.
      session.slots.giveBack();
    });
  });
}

/** The result of a submitted segment when the attempt is aborted before its answer. */
const CUT_OFF = unconfirmed("smpp.cut_off", "the attempt was cut off before the SMSC answered");

function heedRefusal(attempt: AttemptOfSegment, result: SubmitResult): void {
  if (result.outcome.kind === "rejected") attempt.refused ??= result;
}

/** Resolves once it is recorded that the message was taken. A refusal may have to wait for another attempt, and is not waited for. */
async function tellLate(
  { onLateAnswer }: SegmentSubmitter,
  { message, plan }: AttemptOfSegment,
  { segment, result: { outcome } }: { readonly segment: number; readonly result: SubmitResult },
): Promise<void> {
  const { messageId, claim } = message;
  if (outcome.kind === "sent") {
    const { kind: _, ...taken } = outcome;
    const detail = { encoding: plan.encoding, segments: plan.segments };
    await onLateAnswer({ messageId, part: segment, parts: plan.submits, detail, ...taken });
  } else if (outcome.kind !== "unconfirmed") {
    void onLateAnswer({ messageId, part: segment, claim, outcome });
  }
}

/** Lets the message wait for as long as the full queue asks, and sends more slowly if it is the SMSC's own. */
function heedFullQueue(
  { pace, fullQueues }: SegmentSubmitter,
  result: SubmitResult,
  { sentAtMs, message }: { sentAtMs: number; message: OutgoingSms },
): SubmitResult {
  const { outcome, reaction } = result;
  if (outcome.kind === "sent") fullQueues.taken(message);
  if (outcome.kind !== "deferred" || reaction !== "full") return result;
  const { isOfSmsc, waitMs } = fullQueues.refused(message);
  if (isOfSmsc) pace.slowDown({ sentAtMs, pauseMs: 0 });
  return { ...result, outcome: { ...outcome, retryAfterMs: waitMs } };
}

/**
 * If the SMSC says of a submit_sm that it cannot be read, the fault may be the session's or that message's. A session that was opened
 * a moment ago is not to blame; to replace it for each of such messages would leave no session to the others.
 */
const RENEW_AFTER_MS = 60_000;

/** Applies what the answer means for the segments that follow. */
function react(
  { pace, binds }: SegmentSubmitter,
  session: Session,
  { result, sentAtMs }: { result: SubmitResult; sentAtMs: number },
): void {
  const { reaction, outcome } = result;
  if (reaction === "rest") pace.slowDown({ sentAtMs, pauseMs: THROTTLE_PAUSE_MS });
  const why = () => `the SMSC answered ${errorOf(result)}`;
  if (reaction === "replace") binds.replace(session, why());
  if (reaction === "renew") binds.replace(session, why(), RENEW_AFTER_MS);
  if (outcome.kind === "sent") pace.accepted();
}

function errorOf({ outcome }: SubmitResult): string {
  return "error" in outcome ? outcome.error.message : "";
}
