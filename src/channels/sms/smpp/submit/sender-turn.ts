/** What the rate of its sender lets go of a message, and how fast. */
import type { Clock } from "../../../../core/clock.ts";
import type { OutgoingSms } from "../../../channel.ts";
import { isToBeSent } from "../../../is-to-be-sent.ts";
import { type AskAgain, isAskAgain, type SenderPace, type Turn } from "../rate/sender-pace.ts";
import type { SmppConfig } from "../smpp-config.ts";
import { senderOf } from "./addresses.ts";
import type { SubmitPlan } from "./submit-plan.ts";
import { type Attempt, isBegun } from "./submit-segments.ts";

/** A message that may go, or as many of its segments as go in one turn. */
export interface SenderTurn extends Attempt {
  /** The segments that are to come in another turn. */
  readonly later: readonly number[];
}

interface SenderTurnDeps {
  readonly config: SmppConfig;
  readonly senderPace: SenderPace;
  readonly clock: Clock;
}

/** What was answered is stored when the turn ends: so much, and not a whole long message, is sent again after a crash. */
const LONGEST_TURN_MS = 5_000;

/** Waits for the sender's rate. `AskAgain`: nothing of the message may go for so long. */
export function takeSenderTurn(
  deps: SenderTurnDeps,
  attempt: Attempt,
): SenderTurn | AskAgain | Promise<SenderTurn | AskAgain> {
  const { config, senderPace, clock } = deps;
  const { message, plan, signal } = attempt;
  const segmentMs = senderPace.segmentMs();
  const due = segmentsDue(message, plan);
  if (due.length === 0) return { ...attempt, later: [] };
  const sender = senderOf(message, config) ?? "";
  // Beyond half of the time that segments may wait until they go, the message waits in the queue.
  const most = 1 + Math.floor(Math.min(LONGEST_TURN_MS, config.response_timeout_ms / 2) / segmentMs);
  // In equal turns: a rest of few segments would wait as long as any for the next.
  const size = Math.ceil(due.length / Math.ceil(due.length / most));
  const now = due.slice(0, size);
  const later = due.slice(size);
  const turn = senderPace.turn({
    sender,
    messageId: message.messageId,
    flow: message.flow ?? 0,
    isBegun: isBegun(message),
    segments: now.length === plan.submits ? plan.segments : now.length,
    submits: now.length,
    remainingMs: message.remainingMs,
    signal,
  });
  const begun: SenderTurn = {
    ...attempt,
    ...(later.length > 0 && { message: { ...message, only: now } }),
    later,
  };
  if (turn instanceof Promise) return afterTurn(clock, begun, turn);
  return isAskAgain(turn) ? turn : { ...begun, heldTurn: turn };
}

/** What waiting took is not left of the message's window. */
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
