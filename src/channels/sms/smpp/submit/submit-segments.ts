/** Submits the segments of one attempt, in order, over whatever binds there are. */
import { isOpen } from "../../../../core/messages/part.ts";
import type { OutgoingSms } from "../../../channel.ts";
import { isToBeSent } from "../../../is-to-be-sent.ts";
import type { Pace } from "../rate/pace.ts";
import type { HeldTurn } from "../rate/sender-pace.ts";
import type { Binds } from "../session/binds.ts";
import type { Session } from "../session/session.ts";
import { type BegunMessage, type BegunMessages, validityMs } from "./begun-messages.ts";
import type { SubmitLine } from "./submit-line.ts";
import type { SubmitPlan } from "./submit-plan.ts";
import { leftToOthers, notTried, type SubmitResult, waitsForSender } from "./submit-result.ts";
import { type AttemptOfSegment, type SegmentSubmitter, submitSegment } from "./submit-segment.ts";

/** What all attempts over a connector share. */
export interface Submitter extends SegmentSubmitter {
  readonly binds: Pick<Binds, "sessions" | "replace">;
  /** False while all slots of the connector belong to other processes. */
  readonly isServing: () => boolean;
  readonly line: SubmitLine;
  readonly pace: Pace;
  readonly begunMessages: BegunMessages;
  /** How long a segment may wait before it is sent, counted from the beginning of the attempt. */
  readonly patienceMs: number;
}

export interface SmsAttempt {
  readonly message: OutgoingSms;
  readonly plan: SubmitPlan;
  readonly signal: AbortSignal;
  /** False once another process may have taken the message over. */
  readonly isOurs: () => boolean;
  /** How its other segments were sent. Absent: none was, or it is not known. */
  readonly begunAs: BegunMessage | undefined;
  /** Its turn at the rate of its sender. Absent: only the connector's pace counts. */
  readonly heldTurn?: HeldTurn;
}

/** An attempt under way. */
interface OpenAttempt extends SmsAttempt, AttemptOfSegment {
  readonly startedAt: number;
  /** A segment of the message has been sent, in this attempt or before. */
  isBegun: boolean;
  /** As of the segment that was sent last; see `isBegun`. */
  begunAs: BegunMessage | undefined;
}

/** Submits the segments that are still to be sent, each when it gets its turn, without waiting for the answers in between. */
export async function submitSegments(
  submitter: Submitter,
  given: SmsAttempt,
): Promise<(SubmitResult | undefined)[]> {
  const startedAt = submitter.clock.monotonicMs();
  const attempt: OpenAttempt = {
    ...given,
    startedAt,
    isBegun: wasBegun(given.message),
    refused: undefined,
  };
  const begun: Begun[] = [];
  try {
    await beginSegments(submitter, attempt, begun);
  } finally {
    attempt.heldTurn?.end();
  }
  return Promise.all(begun);
}

type Begun = SubmitResult | Promise<SubmitResult> | undefined;

async function beginSegments(submitter: Submitter, attempt: OpenAttempt, begun: Begun[]): Promise<void> {
  const { message, plan } = attempt;
  let isFirst = true;
  for (let segment = 0; segment < plan.submits; segment++) {
    if (!isToBeSent(message, segment)) {
      begun.push(undefined);
      continue;
    }
    const asked = isFirst || senderLetsGo(submitter, attempt);
    isFirst = false;
    const mayGo = asked instanceof Promise ? await asked : asked;
    // These do not even take a slot: others wait for it.
    if (attempt.refused) begun.push(attempt.refused);
    else if (!mayGo) begun.push(putOff(submitter, attempt));
    else if (submitter.binds.sessions().length === 0) begun.push(notConnected(submitter));
    else {
      const taking = takeSlot(submitter, attempt);
      // Most segments get a slot at once, and awaiting it would cost a turn of the microtask queue.
      const session = taking instanceof Promise ? await taking : taking;
      begun.push(beginSegment(submitter, attempt, { segment, session }));
    }
  }
}

/** Whether the sender's rate allows the next segment within the time that it may wait. */
function senderLetsGo(submitter: Submitter, attempt: OpenAttempt): boolean | Promise<boolean> {
  if (!attempt.heldTurn || attempt.refused) return true;
  return attempt.heldTurn.next(submitter.patienceMs - elapsedMs(submitter, attempt));
}

/** The result of a segment that has to wait for another turn of the message. */
function putOff(submitter: Submitter, attempt: OpenAttempt): SubmitResult {
  return attempt.signal.aborted ? noSlot(submitter, attempt) : waitsForSender(SENDER_AGAIN_MS);
}

const SENDER_AGAIN_MS = 1_000;

const NOT_CONNECTED = notTried("smpp.not_connected", "there is no session with the SMSC");

const HANDED_OVER = leftToOthers("smpp.handed_over", "another process serves the connector now");

function notConnected({ isServing }: Submitter): SubmitResult {
  return isServing() ? NOT_CONNECTED : HANDED_OVER;
}

/** Whether an earlier attempt has settled a segment of the message. */
export function wasBegun({ parts }: OutgoingSms): boolean {
  return !parts.every(isOpen);
}

/** Takes a slot of some session's window, when the connector's pace allows it. */
function takeSlot(submitter: Submitter, attempt: OpenAttempt): ReturnType<SubmitLine["take"]> {
  const waitMs = submitter.patienceMs - elapsedMs(submitter, attempt);
  const { signal, isBegun, begunAs } = attempt;
  return submitter.line.take({ waitMs, signal, isBegun, over: begunAs?.over });
}

/** Submits the segment, or says why it is not sent. */
function beginSegment(
  submitter: Submitter,
  attempt: OpenAttempt,
  { segment, session }: { readonly segment: number; readonly session: Session | undefined },
): SubmitResult | Promise<SubmitResult> {
  if (!session) return noSlot(submitter, attempt);
  const remainingMs = attempt.message.remainingMs - elapsedMs(submitter, attempt);
  // Without one of its segments a message is of no use: once one is refused, the others are not sent.
  const reason =
    attempt.refused ?? takenOver(attempt) ?? tooLate(submitter, attempt, { segment, remainingMs });
  if (reason) {
    session.slots.giveBack();
    return reason;
  }
  const validMs = validityMs(attempt.begunAs, remainingMs);
  const answer = submitSegment(submitter, session, { attempt, segment, validMs });
  attempt.isBegun = true;
  const { submits, config } = attempt.plan;
  if (submits > 1) noteBegun(submitter, attempt, { over: session, validMs, config });
  // Counted only now, since the first segment of a process takes a while to encode.
  attempt.heldTurn?.gone();
  return answer;
}

function noteBegun({ begunMessages }: Submitter, attempt: OpenAttempt, begunAs: BegunMessage): void {
  const { over, validMs } = attempt.begunAs ?? {};
  if (over === begunAs.over && validMs === begunAs.validMs) return;
  attempt.begunAs = begunAs;
  begunMessages.note(attempt.message.messageId, begunAs);
}

/** Sets `refused` if the process stood still while the segment waited: another process may have taken over the whole message. */
function takenOver(attempt: OpenAttempt): SubmitResult | undefined {
  if (!attempt.isOurs()) attempt.refused = TAKEN_OVER;
  return attempt.refused;
}

const TAKEN_OVER = leftToOthers("smpp.taken_over", "another process may have taken the message over");

/**
 * Why it is too late to send the segment: the delivery window is over; or, before the first segment, the last one could not be sent
 * within it at the current rate, which also sets `refused`. Once the first has been sent, the others are while there is time.
 */
function tooLate(
  { pace }: Submitter,
  attempt: OpenAttempt,
  { segment, remainingMs }: { readonly segment: number; readonly remainingMs: number },
): SubmitResult | undefined {
  if (remainingMs <= 0) return notTried("smpp.too_late", "the delivery window ended here");
  const { message, plan, heldTurn } = attempt;
  const segmentMs = heldTurn?.intervalMs() ?? 0;
  const isFirst = segment === 0 && !wasBegun(message);
  const ownMs = 1000 / (pace.rate()?.perSecond ?? Number.POSITIVE_INFINITY);
  const lastMs = isFirst ? (plan.submits - 1) * Math.max(ownMs, segmentMs) : 0;
  if (lastMs < remainingMs) return undefined;
  const slower = segmentMs > ownMs ? "its sender" : "its connector";
  const needs = `the message needs ${Math.ceil(lastMs / 1000)} s for its segments`;
  const words = `at the rate of ${slower} ${needs}, more than is left`;
  attempt.refused = notTried("smpp.too_late", words, remainingMs / 2);
  return attempt.refused;
}

function noSlot({ binds, isServing }: Submitter, { signal }: OpenAttempt): SubmitResult {
  if (signal.aborted)
    return notTried("smpp.cut_off", "the attempt was cut off while it waited for the window");
  if (!isServing()) return HANDED_OVER;
  if (binds.sessions().every(({ slots }) => !slots.isOpen()))
    return notTried("smpp.session_lost", "the session ended first");
  return notTried("smpp.window_full", "the window stayed full");
}

function elapsedMs({ clock }: Submitter, { startedAt }: OpenAttempt): number {
  return clock.monotonicMs() - startedAt;
}
