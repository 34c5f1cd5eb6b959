import { type Clock, sleep } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { LateAnswer, LateRefusal } from "../../core/receipts/late-answer.ts";
import { type ReceiptStore, StoreUnavailable } from "../../store/store.ts";

/** The most late answers that wait to be stored: an SMSC that recovers sends all it owes at once. Any beyond this are dropped. */
const MAX_WAITING = 10_000;

/** How often and how long storing is tried while the database is away, or while another attempt is under way. */
const RETRY_MS = 1_000;
const GIVE_UP_MS = 10_000;
const ATTEMPT_MS = 120_000;

export interface LateAnswersDeps {
  readonly receipts: Pick<ReceiptStore, "recordLateAnswer" | "recordLateRefusal">;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "warn">;
}

/**
 * Makes a function that stores late answers: those about parts that a channel had reported as unconfirmed. The function returns
 * at once and never throws.
 */
export function createLateAnswers(deps: LateAnswersDeps): (answer: LateAnswer | LateRefusal) => void {
  let waiting = 0;
  const take = async (answer: LateAnswer | LateRefusal) => {
    const { connectorId: connector, messageId: message_id } = answer;
    try {
      await store(deps, answer);
      const said = "outcome" in answer ? "refused" : "taken";
      deps.log.info({ connector, message_id }, `a provider answered late: it had ${said} the message`);
    } catch (error) {
      deps.log.warn({ err: error, connector, message_id }, "a late answer could not be stored");
    }
  };
  return (answer) => {
    if (waiting >= MAX_WAITING) {
      const { connectorId: connector, messageId: message_id } = answer;
      return deps.log.warn({ connector, message_id }, "a late answer was dropped: too many are waiting");
    }
    waiting++;
    void take(answer).finally(() => waiting--);
  };
}

async function store({ receipts, clock }: LateAnswersDeps, answer: LateAnswer | LateRefusal): Promise<void> {
  const at = clock.now();
  const beganMs = clock.monotonicMs();
  const isOver = (limitMs: number) => clock.monotonicMs() - beganMs >= limitMs;
  for (;;) {
    try {
      if (!("outcome" in answer)) return await receipts.recordLateAnswer(answer, at);
      if (await receipts.recordLateRefusal(answer, at)) return;
      if (isOver(ATTEMPT_MS)) throw new Error("an attempt is under way for too long");
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || isOver(GIVE_UP_MS)) throw error;
    }
    await sleep(clock, RETRY_MS);
  }
}
