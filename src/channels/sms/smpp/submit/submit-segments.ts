/** Submits the segments of one turn, in order, over whatever binds there are. */
import type { Session } from "../session/session.ts";
import { validityMs } from "./begun-messages.ts";
import type { SenderTurn } from "./sender-turn.ts";
import type { SubmitLine } from "./submit-line.ts";
import { leftToOthers, notTried, type SubmitResult, waitsForSender } from "./submit-result.ts";
import { submitSegment } from "./submit-segment.ts";
import type { Submitter } from "./submitter.ts";

/**
 * Submits each segment when it may go, without waiting for the answers in between. Resolves with the results of all segments of the
 * message; `undefined`: the segment is not of this turn.
 */
export async function submitSegments(
  submitter: Submitter,
  turn: SenderTurn,
): Promise<(SubmitResult | undefined)[]> {
  const begun: Begun[] = Array(turn.plan.submits).fill(undefined);
  try {
    await beginSegments(submitter, turn, begun);
  } finally {
    turn.heldTurn?.end();
  }
  return Promise.all(begun);
}

type Begun = SubmitResult | Promise<SubmitResult> | undefined;

async function beginSegments(submitter: Submitter, turn: SenderTurn, begun: Begun[]): Promise<void> {
  for (const segment of turn.now) {
    const asked = segment === turn.now[0] || senderLetsGo(submitter, turn);
    const mayGo = asked instanceof Promise ? await asked : asked;
    // These do not even take a slot: others wait for it.
    if (turn.endedBy) begun[segment] = turn.endedBy;
    else if (!mayGo) begun[segment] = putOff(submitter, turn);
    else if (submitter.binds.sessions().length === 0) begun[segment] = notConnected(submitter);
    else {
      const taking = takeSlot(submitter, turn);
      // Most segments get a slot at once, and awaiting it would cost a turn of the microtask queue.
      const session = taking instanceof Promise ? await taking : taking;
      begun[segment] = session
        ? beginSegment(submitter, turn, { segment, session })
        : noSlot(submitter, turn);
    }
  }
}

/** Whether the sender's rate allows the next segment within the time that it may wait. */
function senderLetsGo(submitter: Submitter, turn: SenderTurn): boolean | Promise<boolean> {
  if (!turn.heldTurn || turn.endedBy) return true;
  return turn.heldTurn.next(patienceMs(submitter, turn));
}

/** The result of a segment that has to wait for another turn of the message. */
function putOff(submitter: Submitter, turn: SenderTurn): SubmitResult {
  return turn.signal.aborted ? noSlot(submitter, turn) : waitsForSender(SENDER_AGAIN_MS);
}

const SENDER_AGAIN_MS = 1_000;

const NOT_CONNECTED = notTried("smpp.not_connected", "there is no session with the SMSC");

const HANDED_OVER = leftToOthers("smpp.handed_over", "another process serves the connector now");

function notConnected({ isServing }: Submitter): SubmitResult {
  return isServing() ? NOT_CONNECTED : HANDED_OVER;
}

/** Takes a slot of some session's window, when the connector's pace allows it. */
function takeSlot(submitter: Submitter, turn: SenderTurn): ReturnType<SubmitLine["take"]> {
  const { signal, wasBegun, begunAs } = turn;
  const isBegun = wasBegun || begunAs !== undefined;
  return submitter.line.take({ waitMs: patienceMs(submitter, turn), signal, isBegun, over: begunAs?.over });
}

function noSlot({ binds, isServing }: Submitter, { signal }: SenderTurn): SubmitResult {
  if (signal.aborted)
    return notTried("smpp.cut_off", "the attempt was cut off while it waited for the window");
  if (!isServing()) return HANDED_OVER;
  if (binds.sessions().every(({ slots }) => !slots.isOpen()))
    return notTried("smpp.session_lost", "the session ended first");
  return notTried("smpp.window_full", "the window stayed full");
}

/** How long the next segment may still wait before it is sent. */
function patienceMs({ clock }: Submitter, { waitsUntilMs }: SenderTurn): number {
  return waitsUntilMs - clock.monotonicMs();
}

/** Submits the segment, or says why it is not sent. Without one of its segments a message is of no use, so that ends the turn. */
function beginSegment(
  submitter: Submitter,
  turn: SenderTurn,
  { segment, session }: { readonly segment: number; readonly session: Session },
): SubmitResult | Promise<SubmitResult> {
  turn.endedBy ??= whyNot(submitter, turn, segment);
  if (turn.endedBy) {
    session.slots.giveBack();
    return turn.endedBy;
  }
  const validMs = validityMs(turn.begunAs, remainingMs(submitter, turn));
  const answer = submitSegment(submitter, session, { turn, segment, validMs });
  if (turn.plan.submits > 1) noteBegun(submitter, turn, { over: session, validMs });
  // Counted only now, since the first segment of a process takes a while to encode.
  turn.heldTurn?.gone();
  return answer;
}

function noteBegun(
  { begunMessages }: Submitter,
  turn: SenderTurn,
  { over, validMs }: { readonly over: Session; readonly validMs: number },
): void {
  if (over === turn.begunAs?.over && validMs === turn.begunAs.validMs) return;
  turn.begunAs = { over, validMs, config: turn.plan.config };
  begunMessages.note(turn.message.messageId, turn.begunAs);
}

/**
 * Why the segment cannot be sent: the process stood still while it waited, and another may have taken over the message; or it is too
 * late for the segment or, before the first one, for the last at the current rate. Once the first has been sent, the others are
 * while there is time.
 */
function whyNot(submitter: Submitter, turn: SenderTurn, segment: number): SubmitResult | undefined {
  if (!turn.isOurs()) return TAKEN_OVER;
  const leftMs = remainingMs(submitter, turn);
  if (leftMs <= 0) return notTried("smpp.too_late", "the delivery window ended here");
  if (segment > 0 || turn.wasBegun) return undefined;
  const senderMs = turn.heldTurn?.intervalMs() ?? 0;
  const ownMs = 1000 / (submitter.pace.rate()?.perSecond ?? Number.POSITIVE_INFINITY);
  const lastMs = (turn.plan.submits - 1) * Math.max(ownMs, senderMs);
  if (lastMs < leftMs) return undefined;
  const slower = senderMs > ownMs ? "its sender" : "its connector";
  const needs = `the message needs ${Math.ceil(lastMs / 1000)} s for its segments`;
  return notTried("smpp.too_late", `at the rate of ${slower} ${needs}, more than is left`, leftMs / 2);
}

const TAKEN_OVER = leftToOthers("smpp.taken_over", "another process may have taken the message over");

/** What is left of the delivery window. */
function remainingMs({ clock }: Submitter, { endsAtMs }: SenderTurn): number {
  return endsAtMs - clock.monotonicMs();
}
