import { settleAttempt } from "../../../core/messages/early-failure.ts";
import { isSettled, noteLostSettle } from "../../../core/messages/progress.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { toAttempt } from "../../queue/settlement-attempt.ts";
import type { ProviderIds } from "../../receipts/provider-ids.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { Contents } from "../messages/contents.ts";
import type { MessageLog, ReadMessage } from "../messages/message-log.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";

export interface SettleParts {
  readonly messages: MessageLog;
  readonly contents: Contents;
  readonly providerIds: ProviderIds;
  readonly suppressions: SuppressionList;
}

/** Weight of a settlement in group commit: its statements. */
const WEIGHT = 3;

/** Its latest claim is not settled: the lease goes on, or has run out. A settlement ends both, so that a repeated one does nothing. */
const IS_OPEN = "(is_leased = 1 OR was_interrupted = 1)";

/** `Queue.settle`: the claim proves the lease; without it only what the provider said is kept. */
export function createSettle(db: Database, parts: SettleParts): Queue["settle"] {
  const find = db.prepare<{ parts: string | null }>(
    `SELECT parts FROM jobs WHERE id = ? AND claim = ? AND message_id = ? AND ${IS_OPEN}`,
  );
  const end = db.prepare(`DELETE FROM jobs WHERE id = ? AND claim = ? AND message_id = ? AND ${IS_OPEN}`);
  const remove = db.prepare("DELETE FROM jobs WHERE id = ?");
  const postpone = db.prepare(
    "UPDATE jobs SET due_at = ?, is_leased = 0, was_interrupted = 0, attempt = attempt + ? WHERE id = ?",
  );

  /** Proves the lease. Where it does not matter which parts the job covers, the statement that ends the job does so. */
  const proveLease = ({ jobId, claim, messageId, next }: Settlement): CheckedSettlement["job"] => {
    if (!isPlainlyDone(next)) return find.get(jobId, claim, messageId);
    return end.run(jobId, claim, messageId) === 1 ? ENDED : undefined;
  };

  const settleOne = (settlement: Settlement): boolean => {
    const job = proveLease(settlement);
    const { messages } = parts;
    const message = job ? messages.readLeased(settlement.messageId) : messages.read(settlement.messageId);
    const isOver = message !== undefined && record(parts, message, { settlement, job });
    if (!job) return false;
    if (job === ENDED) return true;
    if (settlement.next.kind === "done" || isOver) remove.run(settlement.jobId);
    else postpone.run(settlement.next.dueAt, settlement.countsAsAttempt ? 1 : 0, settlement.jobId);
    return true;
  };

  const settle = (settlements: readonly Settlement[]) => settlements.map(settleOne);
  // Late: what it saves is written together with what receipts of the same transaction change.
  return (settlements) => db.write(() => settle(settlements), settlements.length * WEIGHT, "late");
}

const ENDED = { parts: null } as const;

function isPlainlyDone(next: Settlement["next"]): boolean {
  return next.kind === "done" && next.end === undefined;
}

interface CheckedSettlement {
  readonly settlement: Settlement;
  /** Absent: the lease was lost. */
  readonly job: { readonly parts: string | null } | undefined;
}

/** Saves the outcome. True if nothing is left to do for the message. */
function record(
  { messages, contents, providerIds, suppressions }: SettleParts,
  { row, progress: before }: ReadMessage,
  { settlement, job }: CheckedSettlement,
): boolean {
  const attempt = toAttempt(settlement, job?.parts ?? null);
  const step = job ? settleAttempt(before, attempt) : noteLostSettle(before, attempt);
  messages.save(row, step);
  suppressions.learnFromParts(row, { before: before.parts, after: step.progress.parts, at: settlement.at });
  providerIds.recordAttempt(settlement, row, job ? "held" : "lost");
  if (!job) return false;
  const isOver = settlement.next.kind === "done" ? isSettled(step.progress) : isNowSettled(messages, row.id);
  if (settlement.keepsContent) contents.keepBatch(row);
  else if (isOver) contents.wipeSingle(row);
  return isOver;
}

/** No retry is needed if a receipt, or a late answer, has settled what the attempt left open. */
function isNowSettled(messages: MessageLog, messageId: string): boolean {
  const message = messages.read(messageId);
  return message !== undefined && isSettled(message.progress);
}
