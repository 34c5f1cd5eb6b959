import { isSettled, settles } from "../../../core/messages/progress.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import { type CheckedSettlement, heldFirst, settlementStep } from "../../queue/checked-settlement.ts";
import type { ProviderIds } from "../../receipts/provider-ids.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createEndWaiting, type EndingParts } from "../messages/ending.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";

export interface SettleParts extends EndingParts {
  readonly providerIds: ProviderIds;
  readonly suppressions: SuppressionList;
}

/** The weight of a settlement in a group commit: its statements. */
const WEIGHT = 3;

/** The job's latest claim is not settled: its lease goes on, or has run out. Settling ends that, so doing it again has no effect. */
const IS_OPEN = "(is_leased = 1 OR was_interrupted = 1)";

/** `Queue.settle`. A settlement proves its lease by its claim; without the lease, only what the provider said is kept. */
export function createSettle(db: Database, parts: SettleParts): Queue["settle"] {
  const find = db.prepare<{ parts: string | null }>(
    `SELECT parts FROM jobs WHERE id = ? AND claim = ? AND message_id = ? AND ${IS_OPEN}`,
  );
  const end = db.prepare(`DELETE FROM jobs WHERE id = ? AND claim = ? AND message_id = ? AND ${IS_OPEN}`);
  const remove = db.prepare("DELETE FROM jobs WHERE id = ?");
  const postpone = db.prepare(
    "UPDATE jobs SET due_at = ?, is_leased = 0, was_interrupted = 0, attempt = attempt + ? WHERE id = ?",
  );
  const endWaiting = createEndWaiting(db, parts);

  /** Checks that the lease still holds. If it does not matter which parts the job covers, the statement that ends it does that. */
  const proveLease = ({ jobId, claim, messageId, next }: Settlement): CheckedSettlement["job"] => {
    if (!isPlainlyDone(next)) return find.get(jobId, claim, messageId);
    return end.run(jobId, claim, messageId) === 1 ? ENDED : undefined;
  };

  const moveJob = (
    { settlement: { jobId, next, countsAsAttempt }, job }: CheckedSettlement,
    isOver: boolean,
  ) => {
    if (!job || job === ENDED) return;
    if (next.kind === "done" || isOver) remove.run(jobId);
    else postpone.run(next.dueAt, countsAsAttempt ? 1 : 0, jobId);
  };

  const settle = (settlements: readonly Settlement[]): readonly boolean[] => {
    const checked = checkEach(settlements, proveLease);
    const saved = heldFirst(checked).map((each) => saveAttempt(parts, each));
    for (const { job, saved: message } of saved) if (!job && message?.hasEnded) endWaiting(message.row);
    // Only once all attempts are saved: a receipt that is parked for one may be about another, and has to follow its attempt.
    const held = new Set(saved.flatMap(({ settlement, job }) => (job ? [settlement.messageId] : [])));
    for (const each of saved) recordIds(parts, each, held);
    for (const each of checked) moveJob(each, wipeIfOver(parts, each));
    return checked.map(({ job }) => job !== undefined);
  };

  // In phase `late`, so that what it saves is written together with what receipts of the same transaction change.
  return (settlements) => db.write(() => settle(settlements), settlements.length * WEIGHT, "late");
}

const ENDED = { parts: null } as const;

function isPlainlyDone(next: Settlement["next"]): boolean {
  return next.kind === "done" && next.end === undefined;
}

/** Checks the lease of each settlement. If there are several for one job, the first counts. */
function checkEach(
  settlements: readonly Settlement[],
  proveLease: (settlement: Settlement) => CheckedSettlement["job"],
): readonly CheckedSettlement[] {
  const proven = new Set<number>();
  return settlements.map((settlement) => {
    const job = proven.has(settlement.jobId) ? undefined : proveLease(settlement);
    if (job) proven.add(settlement.jobId);
    return { settlement, job };
  });
}

interface SavedAttempt extends CheckedSettlement {
  /** Absent: the message is gone. */
  readonly saved?: {
    readonly row: MessageRow;
    /** The attempt has settled the message. */
    readonly hasEnded: boolean;
  };
}

function saveAttempt({ messages, suppressions }: SettleParts, checked: CheckedSettlement): SavedAttempt {
  const { settlement, job } = checked;
  const message = job ? messages.readLeased(settlement.messageId) : messages.read(settlement.messageId);
  if (!message) return checked;
  const { row, progress: before } = message;
  const step = settlementStep(before, checked);
  messages.save(row, step);
  suppressions.learnFromParts(row, { before: before.parts, after: step.progress.parts, at: settlement.at });
  return { ...checked, saved: { row, hasEnded: settles(before, step) } };
}

/** @param held the messages whose latest attempt is settled too, so that none is under way */
function recordIds(
  { providerIds }: SettleParts,
  { settlement, saved }: SavedAttempt,
  held: ReadonlySet<string>,
): void {
  if (saved) providerIds.recordAttempt(settlement, saved.row, held.has(saved.row.id) ? "held" : "lost");
}

/**
 * Returns whether nothing is left to do for the message. Wipes its body then, unless it is to be kept. To be called after all attempts
 * are saved: a receipt may have settled what the attempt left open, and then no retry is needed.
 */
function wipeIfOver({ messages, contents }: SettleParts, { settlement, job }: CheckedSettlement): boolean {
  const message = job && messages.read(settlement.messageId);
  if (!message) return false;
  const isOver = isSettled(message.progress);
  if (settlement.keepsContent) contents.keepBatch(message.row);
  else if (isOver) contents.wipeSingle(message.row);
  return isOver;
}
