import type { Clock } from "../../../core/clock.ts";
import { applyExpiry } from "../../../core/messages/expiry.ts";
import { toIndexes } from "../../messages/message-rows.ts";
import { passOver } from "../../pass-over.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { endMessage } from "../messages/ending.ts";
import type { MessageChanges, MessageLog } from "../messages/message-log.ts";
import { readSettings } from "../records/account-settings.ts";
import { createSuppressionList, type SuppressionList } from "../suppressions/suppression-list.ts";
import { putOffReady } from "./put-off.ts";
import { createWholeLooks } from "./whole-looks.ts";

export interface ExpireParts {
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly changes: MessageChanges;
  readonly erasedNames: ErasedNames;
}

/** Flows examined in one call; the next call goes on from there. */
const MAX_FLOWS = 2_000;

/**
 * `Queue.expire`: steps from flow to flow, since the earliest deadline of each comes first in the index. All looks are from the start of
 * their flows. So where they are slow, there is none until the next one is due, unless the last one has left something: see `WholeLooks`.
 */
export function createExpire(
  session: Session,
  { clock, changes, erasedNames }: ExpireParts,
): Queue["expire"] {
  const wholeLooks = createWholeLooks(clock);
  /** `jobs`: the last look found as many as it may. `flows`: it is part of a round, which ends with the last flow. */
  let left: "jobs" | "flows" | undefined;
  let last = START;
  const expireSome = (now: number) => (limit: number, take: (jobs: readonly OverdueRow[]) => void) =>
    changes(async (session, log) => {
      const { flows, jobs } = await wholeLooks.timed(() => look(session, last, { now, limit }));
      take(jobs);
      const suppressions = createSuppressionList(session, erasedNames);
      await endAll(session, log, { jobs, now, suppressions });
      await suppressions.write();
      return {
        moved: jobs.length,
        isFull: jobs.length === limit,
        reached: jobs.length < limit ? flowAfter(flows) : flowBefore(flows, jobs),
      };
    });
  return async (now, limit) => {
    if (left === undefined && !wholeLooks.isDue()) return 0;
    if (left !== "flows") wholeLooks.begin();
    left = undefined;
    const done = await passOver({
      limit,
      now,
      run: expireSome(now),
      putOff: ({ id }, dueAt) => putOffReady(session, id, dueAt),
    });
    last = done.reached ?? last;
    left = done.isFull ? "jobs" : last === START ? undefined : "flows";
    return done.moved;
  };
}

interface Flow {
  readonly queue: number;
  readonly flow: number;
}

const START: Flow = { queue: -1, flow: -1 };

/** Where to go on after all flows were examined: behind the last one, or from the start if there were no more. */
function flowAfter(flows: readonly Flow[]): Flow {
  return flows.length < MAX_FLOWS ? START : (flows.at(-1) ?? START);
}

/** Where to go on so that the flow that filled the limit is examined again; `undefined`: that flow is the first. */
function flowBefore(flows: readonly Flow[], jobs: readonly OverdueRow[]): Flow | undefined {
  const reached = Math.max(...jobs.map(({ index }) => index - 1));
  return flows[reached - 1];
}

/** A row value compares in the order of the index, so each step is one look-up. */
const FLOWS = `WITH RECURSIVE flows AS (
    (SELECT queue, flow FROM jobs WHERE due_at IS NULL AND (queue, flow) > ($1::int, $2::int)
     ORDER BY queue, flow LIMIT 1)
    UNION ALL
    SELECT next.queue, next.flow FROM flows, LATERAL (
      SELECT j.queue, j.flow FROM jobs j WHERE j.due_at IS NULL AND (j.queue, j.flow) > (flows.queue, flows.flow)
      ORDER BY j.queue, j.flow LIMIT 1) AS next
  )
  SELECT queue, flow FROM flows LIMIT $3`;

interface OverdueRow {
  readonly id: number;
  readonly message_id: string;
  readonly parts: string | null;
  readonly was_interrupted: boolean;
  /** Position of its flow in the list that was given, from 1. */
  readonly index: number;
}

interface Wanted {
  readonly now: number;
  readonly limit: number;
}

async function look(session: Session, after: Flow, wanted: Wanted) {
  const flows = await session.query<Flow>(FLOWS, [after.queue, after.flow, MAX_FLOWS]);
  return { flows, jobs: await takeOverdue(session, flows, wanted) };
}

async function takeOverdue(
  session: Session,
  flows: readonly Flow[],
  { now, limit }: Wanted,
): Promise<readonly OverdueRow[]> {
  if (flows.length === 0) return [];
  const rows = await session.query<OverdueRow>(TAKE, [
    flows.map(({ queue }) => queue),
    flows.map(({ flow }) => flow),
    now,
    limit,
  ]);
  return rows.toSorted((one, other) => one.index - other.index || one.id - other.id);
}

/** Jobs that others have locked are skipped. */
const TAKE = `WITH overdue AS (
    SELECT picked.id, f.index
    FROM unnest($1::int[], $2::int[]) WITH ORDINALITY AS f (queue, flow, index), LATERAL (
      SELECT j.id FROM jobs j
      WHERE j.due_at IS NULL AND j.queue = f.queue AND j.flow = f.flow AND j.deadline <= $3
      ORDER BY j.deadline LIMIT $4 FOR UPDATE SKIP LOCKED
    ) AS picked
    LIMIT $4
  )
  DELETE FROM jobs USING overdue WHERE jobs.id = ANY(ARRAY[overdue.id])
  RETURNING jobs.id, jobs.message_id, jobs.parts, jobs.was_interrupted, overdue.index`;

interface Ending {
  readonly jobs: readonly OverdueRow[];
  readonly now: number;
  readonly suppressions: SuppressionList;
}

/** Ends the messages. A recipient whose server deferred the last attempt bounces now, and that may suppress it. */
async function endAll(session: Session, log: MessageLog, { jobs, now, suppressions }: Ending): Promise<void> {
  await log.lock(jobs.map((job) => job.message_id));
  const owners = jobs.flatMap((job) => log.find(job.message_id)?.accountId ?? []);
  const settingsOf = await readSettings(session, owners);
  for (const job of jobs) {
    const message = log.find(job.message_id);
    if (!message) continue;
    const step = applyExpiry(message.progress, {
      at: now,
      ...toIndexes(job.parts),
      wasInterrupted: job.was_interrupted,
    });
    endMessage(log, message, { step, settings: settingsOf(message.accountId) });
    suppressions.learnFromParts(message, {
      before: message.progress.parts,
      after: step.progress.parts,
      at: now,
    });
  }
}
