import { remember } from "../../../core/work/remember.ts";
import type { Judgement } from "./judge-answer.ts";

/**
 * Finds the messages that a provider answers as if it refused the connector, though it takes others: their recipient, sender or
 * template is at fault, and the description has no row for that. Each try of such a message would take the connector down again.
 */
export interface SingleRefusals {
  /** What came of a request for this message, without what it says of the provider if only the message is at fault. */
  heed(messageId: string, judgement: Judgement): Judgement;
}

interface Refused {
  /** How many other messages the provider had answered by then. */
  readonly answered: number;
  /** How often it was refused though the provider had answered others since the time before. */
  readonly times: number;
}

/** The wait of such a message, which doubles each time. */
const WAIT_MS = 10_000;
const LONGEST_WAIT_MS = 10 * 60_000;

/** How many messages are remembered. Those whose last refusal is the oldest are forgotten first. */
const MAX_REMEMBERED = 10_000;

export function createSingleRefusals(): SingleRefusals {
  const known = new Map<string, Refused>();
  let answered = 0;
  const refuse = (messageId: string): number => {
    const before = known.get(messageId);
    const times = before && answered > before.answered ? before.times + 1 : 0;
    remember(known, [messageId, { answered, times }], MAX_REMEMBERED);
    return times;
  };
  return {
    heed(messageId, judgement) {
      const { outcome, reaction } = judgement;
      if (reaction?.kind === "up") {
        answered++;
        known.delete(messageId);
      }
      if (outcome.kind !== "deferred" || reaction?.kind !== "down" || !reaction.isRefused) return judgement;
      const times = refuse(messageId);
      if (times === 0) return judgement;
      const waitMs = Math.min(LONGEST_WAIT_MS, WAIT_MS * 2 ** (times - 1));
      const retryAfterMs = Math.max(outcome.retryAfterMs ?? 0, waitMs);
      return { outcome: { ...outcome, retryAfterMs }, counts: false };
    },
  };
}
