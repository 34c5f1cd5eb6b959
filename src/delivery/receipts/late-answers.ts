import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { LateAnswer, LateRefusal } from "../../core/receipts/late-answer.ts";
import { type ReceiptStore, untilStored } from "../../store/store.ts";

/** The most late answers that wait to be stored: an SMSC that recovers sends all it owes at once. Any beyond this are dropped. */
const MAX_WAITING = 10_000;

/** How often, and for how long, a refusal is stored anew while another attempt is under way. */
const RETRY_MS = 1_000;
const ATTEMPT_MS = 120_000;

export interface LateAnswersDeps {
  readonly receipts: Pick<ReceiptStore, "recordLateAnswer" | "recordLateRefusal">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
  /** Aborts when nothing can be stored any more. */
  readonly signal: AbortSignal;
}

/**
 * Makes a function that stores late answers: those about parts that a channel had reported as unconfirmed. What the function
 * returns resolves once the answer is stored, and never rejects.
 */
export function createLateAnswers(
  deps: LateAnswersDeps,
): (answer: LateAnswer | LateRefusal) => Promise<void> {
  let waiting = 0;
  const take = async (answer: LateAnswer | LateRefusal) => {
    const { connectorId: connector, messageId: message_id } = answer;
    try {
      await store(deps, answer);
      const said = "outcome" in answer ? "not taken" : "taken";
      deps.log.info({ connector, message_id }, `a late answer: the provider had ${said} the message`);
    } catch (error) {
      deps.log.warn({ err: error, connector, message_id }, "a late answer could not be stored");
    }
  };
  return async (answer) => {
    if (waiting >= MAX_WAITING) {
      const { connectorId: connector, messageId: message_id } = answer;
      return deps.log.warn({ connector, message_id }, "a late answer was dropped: too many are waiting");
    }
    waiting++;
    await take(answer).finally(() => waiting--);
  };
}

/** Like the results of attempts, late answers wait for a database that is away: without one a message is sent again, or stays held. */
async function store(deps: LateAnswersDeps, answer: LateAnswer | LateRefusal): Promise<void> {
  const { receipts, clock, signal } = deps;
  const at = clock.now();
  if (!("outcome" in answer)) return untilStored(deps, () => receipts.recordLateAnswer(answer, at));
  // Without the time that the database is away: the attempt under way cannot end before it is back either.
  for (let waitedMs = 0; waitedMs < ATTEMPT_MS && !signal.aborted; waitedMs += RETRY_MS) {
    if (await untilStored(deps, () => receipts.recordLateRefusal(answer, at))) return;
    await sleep(clock, RETRY_MS, signal);
  }
  throw new Error("an attempt is under way for too long");
}
