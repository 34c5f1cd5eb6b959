import type { TimelineEntry } from "../../../core/messages/message.ts";
import { isSettled, settles } from "../../../core/messages/progress.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { type CheckedSettlement, heldFirst, settlementStep } from "../../queue/checked-settlement.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createListCommit } from "../database/group-commit.ts";
import type { Transaction } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { endWaiting } from "../messages/ending.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import { beginRecording, type SettledAttempt } from "../receipts/begin-recording.ts";

export interface SettleParts {
  readonly changes: MessageChanges;
  readonly erasedNames: ErasedNames;
}

/** `Queue.settle`: the claim proves the lease; without it only what the provider said is kept. */
export function createSettle({ changes, erasedNames }: SettleParts): Queue["settle"] {
  return createListCommit(async (settlements) => {
    const { answers } = await changes(async (session, log) => {
      const recording = await beginRecording(session, settlements, erasedNames);
      // The locks are taken in this order, although the second statement does not wait for the first one's answer.
      const [jobs] = await Promise.all([
        lockJobs(session, settlements),
        log.lock([...settlements.map(({ messageId }) => messageId), ...recording.messageIds]),
      ]);
      const checked = settlements.map((settlement, index) => ({ settlement, job: jobs.get(index) }));
      const settled = heldFirst(checked).flatMap((each) => record(log, each));
      await recording.record(log, settled);
      const moved = moveJobs(session, log, checked);
      await endWaiting(session, log, endedByLost(settled));
      const written = settled.find(({ entry }) => entry);
      return { answers: checked.map(({ job }) => job !== undefined), written, moved };
    }, isStored);
    return answers;
  });
}

interface JobRow {
  readonly index: number;
  readonly id: number;
  readonly parts: string | null;
}

/**
 * The jobs whose latest claim is that of a settlement, and not settled yet, by the settlement's index. Of several settlements about
 * one job the first counts.
 */
async function lockJobs(
  session: Session,
  settlements: readonly Settlement[],
): Promise<ReadonlyMap<number, JobRow>> {
  const rows = await session.query<JobRow>(LOCK_JOBS, [
    settlements.map(({ jobId }) => jobId),
    settlements.map(({ claim }) => claim),
    settlements.map(({ messageId }) => messageId),
  ]);
  const firsts = new Map<number, JobRow>();
  for (const row of rows.toSorted((one, other) => other.index - one.index)) firsts.set(row.id, row);
  return new Map([...firsts.values()].map((row) => [row.index - 1, row]));
}

/**
 * Looks jobs up one by one in the order of ids: a join might scan all jobs if the planner believes that there are few. A claim that is
 * not settled is leased, or was interrupted. A settlement ends both, so a repeated one does nothing.
 */
const LOCK_JOBS = `SELECT t.index, j.id, j.parts
  FROM (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[]) WITH ORDINALITY AS t (id, claim, message_id, index)
    ORDER BY id
  ) AS t, LATERAL (
    SELECT id, parts FROM jobs WHERE id = t.id AND claim = t.claim AND message_id = t.message_id
      AND (is_leased OR was_interrupted) FOR UPDATE
  ) AS j`;

interface Recorded extends SettledAttempt {
  /** Absent: none was written. */
  readonly entry: TimelineEntry | undefined;
}

function record(log: MessageLog, checked: CheckedSettlement): Recorded[] {
  const { settlement, job } = checked;
  const message = log.find(settlement.messageId);
  if (!message) return [];
  const { progress } = message;
  const step = settlementStep(progress, checked);
  log.save(message, step);
  const { parts: after } = step.progress;
  const hasEnded = settles(progress, step);
  const [entry] = step.entries;
  return [{ settlement, message, isLost: !job, hasEnded, before: progress.parts, after, entry }];
}

/** Messages that an attempt has settled without its lease: their jobs have nothing left to do. */
function endedByLost(settled: readonly SettledAttempt[]): ReadonlySet<string> {
  return new Set(
    settled.flatMap(({ isLost, message, hasEnded }) => (isLost && hasEnded ? [message.id] : [])),
  );
}

/** Called after all attempts are saved: a receipt may have settled what the attempt left open, and then no retry is needed. */
function moveJobs(
  session: Transaction,
  log: MessageLog,
  checked: readonly CheckedSettlement<JobRow>[],
): Moved {
  const ended: number[] = [];
  const again: Postponed[] = [];
  for (const { settlement, job } of checked) {
    if (!job) continue;
    const isOver = wipeIfOver(log, settlement);
    const { next, countsAsAttempt: counts } = settlement;
    if (next.kind === "done" || isOver) ended.push(job.id);
    else again.push({ id: job.id, dueAt: next.dueAt, counts });
  }
  session.run(MOVE_JOBS, [
    ended,
    again.map(({ id }) => id),
    again.map(({ dueAt }) => dueAt),
    again.map(({ counts }) => (counts ? 1 : 0)),
  ]);
  return { ended, again };
}

interface Moved {
  /** Ids of jobs. */
  readonly ended: readonly number[];
  readonly again: readonly Postponed[];
}

interface Postponed {
  readonly id: number;
  readonly dueAt: number;
  readonly counts: boolean;
}

/**
 * Whether the transaction was committed. One timeline entry that it wrote stands for all: that a job has moved proves nothing by
 * itself, since another process may have taken the job over and settled it. If no entry was written, nothing was said of any
 * provider, and one job that was moved stands for all. If none was moved either, it cannot be told.
 */
async function isStored(
  session: Session,
  { written, moved }: { readonly written: Recorded | undefined; readonly moved: Moved },
): Promise<boolean | undefined> {
  if (!written?.entry) return isMoved(session, moved);
  const { position, at, kind } = written.entry;
  return (await session.query(FIND_ENTRY, [written.message.id, position, at, kind])).length > 0;
}

const FIND_ENTRY = "SELECT 1 FROM timeline WHERE message_id = $1 AND position = $2 AND at = $3 AND kind = $4";

async function isMoved(session: Session, { ended, again }: Moved): Promise<boolean | undefined> {
  const id = ended[0] ?? again[0]?.id;
  if (id === undefined) return undefined;
  const [row] = await session.query<{ due_at: number | null }>("SELECT due_at FROM jobs WHERE id = $1", [id]);
  return ended.length > 0 ? row === undefined : row?.due_at === again[0]?.dueAt;
}

/** Returns whether nothing is left to do for the message. Wipes its body then, unless it is to be kept. */
function wipeIfOver(log: MessageLog, { messageId, keepsContent }: Settlement): boolean {
  const message = log.find(messageId);
  if (!message) return false;
  const isOver = isSettled(message.progress);
  if (keepsContent) log.keepBatch(message);
  else if (isOver) log.wipeSingle(message);
  return isOver;
}

/**
 * The list goes through a subquery: an empty list would prove to the planner that any partial index will do, and if it takes the
 * jobs to be few, it would read all that wait, for nothing.
 */
const MOVE_JOBS = `WITH ended AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT unnest($1::bigint[])))
  )
  UPDATE jobs SET due_at = t.due_at, is_leased = false, was_interrupted = false, attempt = jobs.attempt + t.counts
  FROM unnest($2::bigint[], $3::bigint[], $4::int[]) AS t (id, due_at, counts)
  WHERE jobs.id = ANY(ARRAY[t.id])`;
