import type { Clock } from "../../../core/clock.ts";
import { applyInterruption } from "../../../core/messages/progress.ts";
import { NOTHING_IN_FLIGHT, type Sweeper } from "../../../core/queue/in-flight-jobs.ts";
import { passOver } from "../../pass-over.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import { createDueLooks, type FirstDue } from "./due-looks.ts";
import { MAY_END } from "./leases.ts";
import type { Queues } from "./queues.ts";
import { findLeased } from "./release.ts";

export interface StageParts {
  readonly clock: Clock;
  readonly changes: MessageChanges;
  readonly queues: Queues;
}

/** Puts waiting jobs in line once their time has come: schedules, retries and expired leases in one sweep. */
export function createStage(
  session: Session,
  { clock, changes, queues }: StageParts,
): Pick<Queue, "stage" | "nextDueAt"> {
  const dueLooks = createDueLooks(clock, async (from) => {
    const [row] = await session.query<FirstDue>(FIRST, [from.leased, from.waiting]);
    return row ?? { leased: null, waiting: null };
  });
  const stageSome =
    (now: number, { inFlight, process }: Sweeper) =>
    (limit: number, take: Take) =>
      changes(async (session, log) => {
        const { leased, waiting } = dueLooks.floors();
        const from = [leased, waiting];
        const rows = await session.query<StagedRow>(STAGE, [now, limit, inFlight, process ?? null, ...from]);
        take(rows);
        await log.lock(rows.map((row) => row.message_id));
        for (const row of rows) if (!row.was_leased) log.moveStatus(row.message_id, "scheduled", "queued");
        const interrupted = rows.filter((row) => row.was_leased).map((row) => row.message_id);
        await interrupt(session, log, { interrupted, now });
        return rows;
      });
  return {
    async stage(now, limit, sweeper = NOTHING_IN_FLIGHT) {
      const staged = await passOver({
        limit,
        now,
        run: stageSome(now, sweeper),
        putOff: ({ id }, dueAt) => session.query(PUT_OFF, [id, dueAt, now]),
      });
      queues.notify(staged.map(({ name }) => name));
      return staged.length;
    },
    nextDueAt: dueLooks.next,
  };
}

/** A lease lasts so much longer. */
const PUT_OFF = "UPDATE jobs SET due_at = $2 WHERE id = $1 AND due_at <= $3";

type Take = (rows: readonly StagedRow[]) => void;

interface StagedRow {
  readonly id: number;
  readonly name: string;
  readonly message_id: string;
  readonly was_leased: boolean;
}

/** Expired leases first. Skips jobs that others have locked: those are being settled, or staged by another process. */
const STAGE = `WITH leased AS (
    SELECT id, is_leased FROM jobs WHERE is_leased = true AND due_at >= $5 AND due_at <= $1 AND id <> ALL($3::bigint[]) AND ${MAY_END}
    ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
  ), waiting AS (
    SELECT id, is_leased FROM jobs WHERE is_leased = false AND due_at >= $6 AND due_at <= $1 ORDER BY due_at
    LIMIT $2 - (SELECT count(*) FROM leased) FOR UPDATE SKIP LOCKED
  ), due AS (SELECT * FROM leased UNION ALL SELECT * FROM waiting)
  UPDATE jobs SET ready_since = due_at, due_at = NULL, is_leased = false,
    was_interrupted = jobs.was_interrupted OR due.is_leased,
    interruptions = jobs.interruptions + due.is_leased::int,
    interrupted_claim = CASE WHEN NOT due.is_leased THEN jobs.interrupted_claim
      WHEN NOT jobs.was_interrupted THEN jobs.claim END
  FROM due, queues q WHERE jobs.id = ANY(ARRAY[due.id]) AND q.number = jobs.queue
  RETURNING jobs.id, q.name, jobs.message_id, due.is_leased AS was_leased`;

/** Not by `min`: if no job was left when statistics were taken, the planner would rather read all than stop at the first. */
const first = (isLeased: boolean, from: string) => `(SELECT due_at FROM jobs
  WHERE is_leased = ${isLeased} AND due_at >= ${from}::bigint ORDER BY due_at LIMIT 1)`;

const FIRST = `SELECT ${first(true, "$1")} AS leased, ${first(false, "$2")} AS waiting`;

async function interrupt(
  session: Session,
  log: MessageLog,
  { interrupted, now }: { interrupted: readonly string[]; now: number },
): Promise<void> {
  const leased = await findLeased(session, interrupted);
  for (const id of interrupted) {
    const message = log.find(id);
    const step = message && applyInterruption(message.progress, now);
    if (message && step && step.entries.length > 0) log.save(message, step);
    if (leased.has(id)) log.moveStatus(id, "queued", "sending");
  }
}
