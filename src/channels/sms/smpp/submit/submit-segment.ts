/** Submits one segment, and applies what its answer says: to its message, to the rate, to the session. */
import type { Session } from "../session/session.ts";
import type { SubmitAnswer } from "../session/submit-answer.ts";
import type { SenderTurn } from "./sender-turn.ts";
import {
  type SubmitResult,
  THROTTLE_PAUSE_MS,
  toSubmitResult,
  unconfirmed,
  withJoining,
} from "./submit-result.ts";
import type { Submitter } from "./submitter.ts";

interface Segment {
  readonly turn: SenderTurn;
  readonly segment: number;
  /** Its validity period. */
  readonly validMs: number;
}

/** Resolves once it is answered, or the attempt is aborted; gives the slot of the session's window back with the answer. */
export function submitSegment(
  submitter: Submitter,
  session: Session,
  { turn, segment, validMs }: Segment,
): Promise<SubmitResult> {
  const { message, plan, signal } = turn;
  const sentAtMs = submitter.clock.monotonicMs();
  const read = (answer: SubmitAnswer) =>
    withJoining(toSubmitResult(answer, submitter.settings.reading(), message.to), plan.joinedBy);
  const onLate = (answer: SubmitAnswer) => {
    const result = read(answer);
    heedRefusal(turn, result);
    return tellLate(submitter, turn, { segment, result });
  };
  return new Promise((resolve) => {
    let isReported = false;
    const report = (result: SubmitResult) => {
      isReported = true;
      resolve(result);
    };
    const stopWatching = submitter.abortWatch.watch(signal, () =>
      report(withJoining(CUT_OFF, plan.joinedBy)),
    );
    void session.submit(plan.body(segment, validMs), onLate).then((answer) => {
      stopWatching();
      const result = heedFullQueue(submitter, read(answer), { sentAtMs, message });
      react(submitter, session, { result, sentAtMs });
      heedRefusal(turn, result);
      if (!isReported) report(result);
      else if (answer.kind !== "lost") void tellLate(submitter, turn, { segment, result });
      // Only now, so that the next segment already knows what this answer has changed.
      session.slots.giveBack();
    });
  });
}

/** The result of a submitted segment when the attempt is aborted before its answer. */
const CUT_OFF = unconfirmed("smpp.cut_off", "the attempt was cut off before the SMSC answered");

function heedRefusal(turn: SenderTurn, result: SubmitResult): void {
  if (result.outcome.kind === "rejected") turn.endedBy ??= result;
}

/** Resolves once it is recorded that the message was taken. A refusal may have to wait for another attempt, and is not waited for. */
async function tellLate(
  { connectorId, onLateAnswer }: Submitter,
  { message, plan }: SenderTurn,
  { segment, result: { outcome } }: { readonly segment: number; readonly result: SubmitResult },
): Promise<void> {
  const { messageId, claim } = message;
  const about = { connectorId, messageId, part: segment };
  if (outcome.kind === "sent") {
    const { kind: _, ...taken } = outcome;
    const detail = { encoding: plan.encoding, segments: plan.segments };
    await onLateAnswer({ ...about, parts: plan.submits, detail, ...taken });
  } else if (outcome.kind !== "unconfirmed") {
    void onLateAnswer({ ...about, claim, outcome });
  }
}

/** Lets the message wait for as long as the full queue asks, and sends more slowly if it is the SMSC's own. */
function heedFullQueue(
  { pace, fullQueues }: Submitter,
  result: SubmitResult,
  { sentAtMs, message }: { sentAtMs: number; message: SenderTurn["message"] },
): SubmitResult {
  const { outcome, statusClass } = result;
  if (outcome.kind === "sent") fullQueues.taken(message);
  if (outcome.kind !== "deferred" || statusClass !== "full") return result;
  const { isOfSmsc, isOfAll, waitMs } = fullQueues.refused(message);
  if (isOfSmsc) pace.slowDown({ sentAtMs, pauseMs: 0 });
  return {
    ...result,
    outcome: { ...outcome, retryAfterMs: waitMs, ...(isOfAll && { isAnswer: true }) },
  };
}

/**
 * If the SMSC says of a submit_sm that it cannot be read, the fault may be the session's or that message's. A session that was opened
 * a moment ago is not to blame; to replace it for each of such messages would leave no session to the others.
 */
const RENEW_AFTER_MS = 60_000;

/** Applies what the answer means for the segments that follow. */
function react(
  { pace, binds }: Submitter,
  session: Session,
  { result, sentAtMs }: { result: SubmitResult; sentAtMs: number },
): void {
  const { statusClass, outcome } = result;
  if (statusClass === "throttled") pace.slowDown({ sentAtMs, pauseMs: THROTTLE_PAUSE_MS });
  const why = () => `the SMSC answered ${errorOf(result)}`;
  if (statusClass === "session") binds.replace(session, why());
  if (statusClass === "framing") binds.replace(session, why(), RENEW_AFTER_MS);
  if (outcome.kind === "sent") pace.accepted();
}

function errorOf({ outcome }: SubmitResult): string {
  return "error" in outcome ? outcome.error.message : "";
}
