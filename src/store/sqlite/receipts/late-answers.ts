import { isSettled } from "../../../core/messages/progress.ts";
import { applyLateAnswer, type LateAnswer } from "../../../core/receipts/late-answer.ts";
import { toProgress } from "../../messages/message-rows.ts";
import type { Database } from "../database/database.ts";
import { createEnding, type EndingParts } from "../messages/ending.ts";
import { OF_MESSAGE } from "../queue/jobs-of-message.ts";

/**
 * Applies late answers, inside a transaction: the part has been sent after all. Once no part of the message is open, its
 * waiting retry is cancelled; an attempt under way is left to its settlement.
 */
export function createLateAnswers(
  db: Database,
  parts: EndingParts,
): (answer: LateAnswer, at: number) => void {
  const end = createEnding(parts);
  const cancelRetry = db.prepare(`DELETE FROM jobs WHERE ${OF_MESSAGE} AND is_leased = 0`);
  return (answer, at) => {
    const message = parts.messages.find(answer.messageId);
    if (!message) return;
    const step = applyLateAnswer(toProgress(message), answer, at);
    end(message, step);
    if (isSettled(step.progress)) cancelRetry.run(message.id);
  };
}
