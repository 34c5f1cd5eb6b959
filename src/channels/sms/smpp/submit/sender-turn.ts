/** Asks the rate of a message's sender how many of its segments may be sent now, and how fast. */
import type { Clock } from "../../../../core/clock.ts";
import type { OutgoingSms } from "../../../channel.ts";
import { isToBeSent } from "../../../is-to-be-sent.ts";
import { type AskAgain, isAskAgain, type SenderPace, type Turn } from "../rate/sender-pace.ts";
import { senderOf } from "./addresses.ts";
import type { SubmitPlan } from "./submit-plan.ts";
import { type SmsAttempt, wasBegun } from "./submit-segments.ts";

/** An attempt whose turn it is, with as many of its segments as may be sent in one turn. */
export interface SenderTurn extends SmsAttempt {
  /** The segments that have to wait for another turn. */
  readonly later: readonly number[];
}

interface SenderTurnDeps {
  readonly senderPace: SenderPace;
  readonly clock: Clock;
}

/** The longest turn. Answers are stored when a turn ends, so after a crash only this much of a long message is sent again. */
const LONGEST_TURN_MS = 5_000;

/** Waits for the sender's rate. `AskAgain`: nothing of the message may be sent for that long. */
export function takeSenderTurn(
  deps: SenderTurnDeps,
  attempt: SmsAttempt,
): SenderTurn | AskAgain | Promise<SenderTurn | AskAgain> {
  const { senderPace, clock } = deps;
  const { message, plan, signal } = attempt;
  const { config } = plan;
  const segmentMs = senderPace.segmentMs();
  const due = segmentsDue(message, plan);
  if (due.length === 0) return { ...attempt, later: [] };
  const sender = senderOf(message, config) ?? "";
  // At most half of the time that segments may wait before they are sent. The rest of the message waits in the queue.
  const most = 1 + Math.floor(Math.min(LONGEST_TURN_MS, config.response_timeout_ms / 2) / segmentMs);
  // Turns of equal size: a last turn with few segments would wait as long as any other.
  const size = Math.ceil(due.length / Math.ceil(due.length / most));
  const first = due.slice(0, size);
  const later = due.slice(size);
  const turn = senderPace.turn({
    sender,
    messageId: message.messageId,
    flow: message.flow,
    isBegun: wasBegun(message),
    segments: first.length === plan.submits ? plan.segments : first.length,
    submits: first.length,
    remainingMs: message.remainingMs,
    signal,
  });
  const begun: SenderTurn = {
    ...attempt,
    ...(later.length > 0 && { message: { ...message, only: first } }),
    later,
  };
  if (turn instanceof Promise) return afterTurn(clock, begun, turn);
  return isAskAgain(turn) ? turn : { ...begun, heldTurn: turn };
}

/** The turn once it has come: the time spent waiting is subtracted from the message's delivery window. */
async function afterTurn(
  clock: Clock,
  begun: SenderTurn,
  asked: Promise<Turn>,
): Promise<SenderTurn | AskAgain> {
  const askedAt = clock.monotonicMs();
  const turn = await asked;
  if (isAskAgain(turn)) return turn;
  const remainingMs = begun.message.remainingMs - (clock.monotonicMs() - askedAt);
  return { ...begun, heldTurn: turn, message: { ...begun.message, remainingMs } };
}

export function segmentsDue(message: OutgoingSms, { submits }: SubmitPlan): readonly number[] {
  return [...Array(submits).keys()].filter((segment) => isToBeSent(message, segment));
}
