/** Asks the rate of a message's sender how many of its segments may be sent now, and how fast. */
import { type AskAgain, type HeldTurn, isAskAgain, type Turn } from "../rate/sender-pace.ts";
import { senderOf } from "./addresses.ts";
import type { SmsAttempt } from "./attempt-sms.ts";
import type { SubmitResult } from "./submit-result.ts";
import type { Submitter } from "./submitter.ts";

/** An attempt whose turn it is. */
export interface SenderTurn extends SmsAttempt {
  /** As many of its segments as may be sent in one turn. */
  readonly now: readonly number[];
  /** The segments that have to wait for another turn. */
  readonly later: readonly number[];
  /** `undefined`: only the connector's pace counts. */
  readonly heldTurn: HeldTurn | undefined;
  /** Until when its segments may wait to be sent, on the monotonic clock. */
  readonly waitsUntilMs: number;
  /** As of the segment that was sent last. */
  begunAs: SmsAttempt["begunAs"];
  /** Set once a segment is refused, or cannot be sent any more: the result of the others, which are not sent either. */
  endedBy: SubmitResult | undefined;
}

/** The longest turn. Answers are stored when a turn ends, so after a crash only this much of a long message is sent again. */
const LONGEST_TURN_MS = 5_000;

/** Waits for the sender's rate. `AskAgain`: nothing of the message may be sent for that long. */
export function takeSenderTurn(
  { senderPace, clock }: Pick<Submitter, "senderPace" | "clock">,
  attempt: SmsAttempt,
): SenderTurn | AskAgain | Promise<SenderTurn | AskAgain> {
  const { message, plan, due, wasBegun, signal } = attempt;
  const patienceMs = plan.config.response_timeout_ms;
  const begin = (size: number, heldTurn?: HeldTurn): SenderTurn => ({
    ...attempt,
    now: due.slice(0, size),
    later: due.slice(size),
    heldTurn,
    waitsUntilMs: clock.monotonicMs() + patienceMs,
    endedBy: undefined,
  });
  if (!senderPace || due.length === 0) return begin(due.length);
  // At most half of the time that segments may wait before they are sent. The rest of the message waits in the queue.
  const most = 1 + Math.floor(Math.min(LONGEST_TURN_MS, patienceMs / 2) / senderPace.segmentMs());
  // Turns of equal size: a last turn with few segments would wait as long as any other.
  const size = Math.ceil(due.length / Math.ceil(due.length / most));
  const asked = senderPace.turn({
    sender: senderOf(message, plan.config) ?? "",
    messageId: message.messageId,
    flow: message.flow,
    isBegun: wasBegun,
    segments: size === plan.submits ? plan.segments : size,
    submits: size,
    remainingMs: message.remainingMs,
    signal,
  });
  const beginAt = (turn: Turn) => (isAskAgain(turn) ? turn : begin(size, turn));
  return asked instanceof Promise ? asked.then(beginAt) : beginAt(asked);
}
