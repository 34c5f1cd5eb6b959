import { applyExpiry } from "../../../core/messages/expiry.ts";
import { toIndexes } from "../../messages/message-rows.ts";
import { passOver } from "../../pass-over.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createEnding, type EndingParts } from "../messages/ending.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";
import { createPutOffReady } from "./put-off.ts";

export interface ExpireParts extends EndingParts {
  readonly suppressions: SuppressionList;
}

/** How many flows one call examines. The next call goes on from there. */
const MAX_FLOWS = 2_000;

/** `Queue.expire`. Steps from flow to flow, since the earliest deadline of each comes first in the index. */
export function createExpire(db: Database, parts: ExpireParts): Queue["expire"] {
  const nextFlow = createFlowSteps(db);
  const overdue = db.prepare<OverdueRow>(
    `SELECT id, message_id, parts, was_interrupted FROM jobs
     WHERE due_at IS NULL AND queue = +? AND flow = +? AND deadline <= +? ORDER BY deadline LIMIT ?`,
  );
  const remove = db.prepare("DELETE FROM jobs WHERE id = ?");
  const end = createEnd(parts);
  let last: Flow = START;

  const putOffReady = createPutOffReady(db);

  const expireNow = (now: number, limit: number, take: (rows: readonly OverdueRow[]) => void): number => {
    const taken: OverdueRow[] = [];
    let moved = 0;
    for (let seen = 0; seen < MAX_FLOWS && moved < limit; seen++) {
      const flow = nextFlow(last);
      const rows = flow ? overdue.all(flow.queue, flow.flow, now, limit - moved) : [];
      taken.push(...rows);
      take(taken);
      for (const row of rows) {
        end(row, now);
        remove.run(row.id);
      }
      moved += rows.length;
      // A flow that filled the limit is examined again.
      if (moved < limit) last = flow ?? START;
      if (!flow) break;
    }
    return moved;
  };
  return (now, limit) =>
    passOver({
      limit,
      now,
      run: (most, take: (rows: readonly OverdueRow[]) => void) =>
        db.write(() => expireNow(now, most, take), most),
      putOff: ({ id }, dueAt) => putOffReady(id, dueAt),
    });
}

interface Flow {
  readonly queue: number;
  readonly flow: number;
}

const START: Flow = { queue: -1, flow: -1 };

/** Steps from flow to flow, in the order of the index. By two statements: with a row value, SQLite would scan the flow's jobs. */
function createFlowSteps(db: Database): (last: Flow) => Flow | undefined {
  const ofQueue = db.prepare<Flow>(
    "SELECT queue, flow FROM jobs WHERE due_at IS NULL AND queue = +? AND flow > +? ORDER BY flow LIMIT 1",
  );
  const ofLaterQueue = db.prepare<Flow>(
    "SELECT queue, flow FROM jobs WHERE due_at IS NULL AND queue > +? ORDER BY queue, flow LIMIT 1",
  );
  return ({ queue, flow }) => ofQueue.get(queue, flow) ?? ofLaterQueue.get(queue);
}

interface OverdueRow {
  readonly id: number;
  readonly message_id: string;
  readonly parts: string | null;
  readonly was_interrupted: number;
}

function createEnd({ suppressions, ...parts }: ExpireParts) {
  const end = createEnding(parts);
  return (job: OverdueRow, now: number): void => {
    const message = parts.messages.read(job.message_id);
    if (!message) return;
    const { row, progress: before } = message;
    const step = applyExpiry(before, {
      at: now,
      ...toIndexes(job.parts),
      wasInterrupted: job.was_interrupted === 1,
    });
    end(row, step);
    suppressions.learnFromParts(row, { before: before.parts, after: step.progress.parts, at: now });
  };
}
