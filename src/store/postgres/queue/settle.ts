import type { Part } from "../../../core/messages/message.ts";
import { applyAttempt, isSettled, noteLostSettle } from "../../../core/messages/progress.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { toAttempt } from "../../queue/settlement-attempt.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { createGroupCommit, splitAlike } from "../database/group-commit.ts";
import type { LockedMessage, MessageChanges, MessageLog } from "../messages/message-log.ts";

/** A settlement whose message was saved, with the parts before and after. */
export interface SettledAttempt {
  readonly settlement: Settlement;
  /** As it was before the attempt. */
  readonly message: LockedMessage;
  readonly before: readonly Part[];
  readonly after: readonly Part[];
}

/** What else a transaction of settlements records. It takes its own locks first, before those of jobs and messages. */
export type BeginRecording = (session: Session, settlements: readonly Settlement[]) => Promise<Recording>;

export interface Recording {
  /** Other messages it may change: to be locked together with those of the settlements. */
  readonly messageIds: readonly string[];
  /** Called once the messages are locked, and the settlements' messages saved. */
  record(log: MessageLog, settled: readonly SettledAttempt[]): Promise<void>;
}

export interface SettleParts {
  readonly changes: MessageChanges;
  readonly beginRecording: BeginRecording;
  readonly schedule: (run: () => void) => void;
}

/** `Queue.settle`: the claim proves the lease; without it only what the provider said is kept. */
export function createSettle({ changes, beginRecording, schedule }: SettleParts): Queue["settle"] {
  const settleAll = async (settlements: readonly Settlement[]) => {
    const { answers } = await changes(async (session, log) => {
      const recording = await beginRecording(session, settlements);
      const jobs = await lockJobs(session, settlements);
      await log.lock([...settlements.map(({ messageId }) => messageId), ...recording.messageIds]);
      const verdicts = settlements.map((settlement, index) => ({ settlement, job: jobs.get(index) }));
      const settled = verdicts.flatMap((verdict) => record(log, verdict));
      await recording.record(log, settled);
      const moved = await moveJobs(session, log, verdicts);
      return { answers: verdicts.map(({ job }) => job !== undefined), moved };
    }, isMoved);
    return answers;
  };
  const enter = createGroupCommit<readonly Settlement[], readonly boolean[]>({
    schedule,
    nameOf: () => undefined,
    weightOf: ({ length }) => length,
    async run(calls) {
      return splitAlike(await settleAll(calls.flat()), calls);
    },
  });
  return async (settlements) => (settlements.length === 0 ? [] : enter(settlements));
}

interface Verdict {
  readonly settlement: Settlement;
  /** Absent: the lease was lost. */
  readonly job: JobRow | undefined;
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
 * Looked up one by one in the order of ids: a join might scan all jobs, where the planner believes there are few. Until a claim is
 * settled its lease goes on, or has run out. A settlement ends both, so that a repeated one does nothing.
 */
const LOCK_JOBS = `SELECT t.index, j.id, j.parts
  FROM (
    SELECT * FROM unnest($1::bigint[], $2::int[], $3::uuid[]) WITH ORDINALITY AS t (id, claim, message_id, index)
    ORDER BY id
  ) AS t, LATERAL (
    SELECT id, parts FROM jobs WHERE id = t.id AND claim = t.claim AND message_id = t.message_id
      AND (is_leased OR was_interrupted) FOR UPDATE
  ) AS j`;

function record(log: MessageLog, { settlement, job }: Verdict): SettledAttempt[] {
  const message = log.find(settlement.messageId);
  if (!message) return [];
  const { progress } = message;
  const attempt = toAttempt(settlement, job?.parts ?? null);
  const step = job ? applyAttempt(progress, attempt) : noteLostSettle(progress, attempt);
  log.save(message, step);
  return [{ settlement, message, before: progress.parts, after: step.progress.parts }];
}

/** Called last: a receipt may have settled what the attempt left open, and then no retry is needed. */
async function moveJobs(session: Session, log: MessageLog, verdicts: readonly Verdict[]): Promise<Moved> {
  const ended: number[] = [];
  const again: Postponed[] = [];
  for (const { settlement, job } of verdicts) {
    if (!job) continue;
    const isOver = wipeIfOver(log, settlement);
    const { next, countsAsAttempt: counts } = settlement;
    if (next.kind === "done" || isOver) ended.push(job.id);
    else again.push({ id: job.id, dueAt: next.dueAt, counts });
  }
  await session.query(MOVE_JOBS, [
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

/** One job that moved stands for all. Where none did, only stale claims were noted, and whether they were cannot be told. */
async function isMoved(
  session: Session,
  { moved: { ended, again } }: { readonly moved: Moved },
): Promise<boolean | undefined> {
  const id = ended[0] ?? again[0]?.id;
  if (id === undefined) return undefined;
  const [row] = await session.query<{ due_at: number | null }>("SELECT due_at FROM jobs WHERE id = $1", [id]);
  return ended.length > 0 ? row === undefined : row?.due_at === again[0]?.dueAt;
}

/** True if nothing is left to do for the message; its body is wiped then, unless it is to be kept. */
function wipeIfOver(log: MessageLog, { messageId, keepsContent }: Settlement): boolean {
  const message = log.find(messageId);
  if (!message) return false;
  const isOver = isSettled(message.progress);
  if (keepsContent) log.keepBatch(message);
  else if (isOver) log.wipeSingle(message);
  return isOver;
}

/**
 * The list goes through a subquery, since one that is empty proves to the planner that any partial index will do: where it takes the
 * jobs to be few it would read all that wait, for nothing.
 */
const MOVE_JOBS = `WITH ended AS (
    DELETE FROM jobs WHERE id = ANY(ARRAY(SELECT unnest($1::bigint[])))
  )
  UPDATE jobs SET due_at = t.due_at, is_leased = false, was_interrupted = false, attempt = jobs.attempt + t.counts
  FROM unnest($2::bigint[], $3::bigint[], $4::int[]) AS t (id, due_at, counts)
  WHERE jobs.id = ANY(ARRAY[t.id])`;
