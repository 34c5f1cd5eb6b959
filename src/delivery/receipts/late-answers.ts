import { type Clock, sleep } from "../../core/clock.ts";
import type { LateAnswer } from "../../core/receipts/late-answer.ts";
import { type ReceiptStore, StoreUnavailable } from "../../store/store.ts";
import type { DeliveryLog } from "../engine.ts";

/** Late answers that may wait to be stored: an SMSC that recovers sends all it owes at once. Those beyond are dropped. */
const MAX_WAITING = 10_000;

/** How often, and for how long, storing is tried while the database is away. */
const RETRY_MS = 1_000;
const GIVE_UP_MS = 10_000;

export interface LateAnswersDeps {
  readonly receipts: Pick<ReceiptStore, "recordLateAnswer">;
  readonly clock: Clock;
  readonly log: Pick<DeliveryLog, "info" | "warn">;
}

/** Stores late answers: those to parts that a channel had already reported as unconfirmed. Returns at once and never throws. */
export function createLateAnswers(deps: LateAnswersDeps): (answer: LateAnswer) => void {
  let waiting = 0;
  const take = async (answer: LateAnswer) => {
    const { connectorId: connector, messageId: message_id } = answer;
    try {
      await store(deps, answer);
      deps.log.info({ connector, message_id }, "a provider answered late: it had taken the message");
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

async function store({ receipts, clock }: LateAnswersDeps, answer: LateAnswer): Promise<void> {
  const at = clock.now();
  const endsMs = clock.monotonicMs() + GIVE_UP_MS;
  for (;;) {
    try {
      return await receipts.recordLateAnswer(answer, at);
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || clock.monotonicMs() >= endsMs) throw error;
      await sleep(clock, RETRY_MS);
    }
  }
}
