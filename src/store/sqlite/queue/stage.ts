import { applyInterruption } from "../../../core/messages/progress.ts";
import { NOTHING_IN_FLIGHT, type Sweeper } from "../../../core/queue/in-flight-jobs.ts";
import { passOver } from "../../pass-over.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { MessageLog } from "../messages/message-log.ts";
import { HAS_LEASED_JOB } from "./jobs-of-message.ts";
import type { Queues } from "./queues.ts";

export interface StageParts {
  readonly messages: MessageLog;
  readonly queues: Queues;
}

/** The due time of leases that a start ends: long past, since the store has no clock. */
export const LEASE_ENDED = 0;

/** A lease that has run out is an interruption. Which claim it was is told as long as no other was interrupted before it. */
const READY = `UPDATE jobs SET ready_since = coalesce(nullif(due_at, ${LEASE_ENDED}), ?), due_at = NULL, is_leased = 0,
    was_interrupted = max(was_interrupted, is_leased),
    interruptions = interruptions + is_leased,
    interrupted_claim = iif(is_leased = 1, iif(was_interrupted = 1, NULL, claim), interrupted_claim)
  WHERE id = ?`;

/** `Queue.stage`: makes waiting jobs ready once their time has come. Schedules, retries and expired leases in one sweep. */
export function createStage(
  db: Database,
  { messages, queues }: StageParts,
): Pick<Queue, "stage" | "nextDueAt"> {
  const due = db.prepare<WaitingRow>(
    `SELECT id, queue, message_id, is_leased FROM jobs
     WHERE is_leased = ? AND due_at IS NOT NULL AND due_at <= ? ORDER BY due_at LIMIT ?`,
  );
  const ready = db.prepare(READY);
  const putOff = db.prepare("UPDATE jobs SET due_at = ? WHERE id = ? AND due_at <= ?");
  const interrupt = createInterrupt(db, messages);
  const stageOne = (row: WaitingRow, now: number) => {
    ready.run(now, row.id);
    if (row.is_leased === 1) interrupt(row.message_id, now);
    else messages.moveStatus(row.message_id, "scheduled", "queued");
    queues.notify(queues.nameOf(row.queue));
  };

  const stageSome = (now: number, { inFlight }: Sweeper) => {
    const held = new Set(inFlight);
    return (limit: number, take: (rows: readonly WaitingRow[]) => void) =>
      db.write(() => {
        const leased = due.all(1, now, limit + held.size).filter(({ id }) => !held.has(id));
        leased.splice(limit);
        const rows = [...leased, ...due.all(0, now, limit - leased.length)];
        take(rows);
        for (const row of rows) stageOne(row, now);
        return rows.length;
      }, limit);
  };

  return {
    stage: (now, limit, sweeper = NOTHING_IN_FLIGHT) =>
      passOver({
        limit,
        now,
        run: stageSome(now, sweeper),
        // A lease lasts so much longer.
        putOff: ({ id }, dueAt) => db.write(() => putOff.run(dueAt, id, now)),
      }),
    nextDueAt: createNextDueAt(db),
  };
}

function createNextDueAt(db: Database): Queue["nextDueAt"] {
  const first = db.prepare<{ due_at: number | null }>(
    "SELECT min(due_at) AS due_at FROM jobs WHERE is_leased = ? AND due_at IS NOT NULL",
  );
  return () =>
    db.read(() => {
      const times = [first.get(0)?.due_at, first.get(1)?.due_at].filter((at) => typeof at === "number");
      return times.length > 0 ? Math.min(...times) : undefined;
    });
}

/** Notes that an attempt was interrupted: its lease has run out. */
function createInterrupt(db: Database, messages: MessageLog): (messageId: string, now: number) => void {
  const hasLeasedJob = db.prepare(HAS_LEASED_JOB);
  return (messageId, now) => {
    const message = messages.readLeased(messageId);
    if (!message) return;
    const step = applyInterruption(message.progress, now);
    if (step.entries.length > 0) messages.save(message.row, step);
    if (hasLeasedJob.get(messageId)) messages.moveStatus(messageId, "queued", "sending");
  };
}

interface WaitingRow {
  readonly id: number;
  readonly queue: number;
  readonly message_id: string;
  readonly is_leased: number;
}

/**
 * Ends all leases, so that `stage` finds their jobs at once. For a start: only one process works on a database file, so the leases
 * are those of an earlier process, which is dead.
 */
export async function endDeadLeases(db: Database): Promise<void> {
  const end = db.prepare(
    `UPDATE jobs SET due_at = ${LEASE_ENDED} WHERE is_leased = 1 AND due_at IS NOT NULL`,
  );
  await db.write(() => end.run());
}
