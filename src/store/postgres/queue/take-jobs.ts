import type { ClaimRequest } from "../../../core/queue/claimed-job.ts";
import type { Session } from "../database/driver.ts";

export interface LeasedRow {
  readonly id: number;
  readonly flow: number;
  readonly message_id: string;
  readonly parts: string | null;
  readonly deadline: number;
  readonly claim: number;
  readonly attempt: number;
  readonly was_interrupted: boolean;
}

export interface Taken {
  readonly jobs: readonly LeasedRow[];
  /** The flow the claim ended with. */
  readonly last: number;
}

/**
 * Leases ready jobs in equal shares, passing over those that another process is just taking: a loose scan of the index
 * steps from flow to flow, so the cost is that of the flows visited and the jobs taken, whatever waits behind them.
 *
 * @param after the flow to begin behind
 */
export async function takeJobs(
  session: Session,
  { queue, limit, now, leaseMs, process }: ClaimRequest,
  after: number,
): Promise<Taken> {
  const jobs: LeasedRow[] = [];
  let last = after;
  let flows = await flowsFrom(session, [queue, after, limit]);
  while (jobs.length < limit && flows.length > 0) {
    const wanted = shares(limit - jobs.length, flows);
    const rows = await session.query<LeasedRow>(LEASE, [
      queue,
      wanted.map(({ flow }) => flow),
      wanted.map(({ count }) => count),
      now + leaseMs,
      process ?? null,
    ]);
    const ofFlow = Map.groupBy(rows, ({ flow }) => flow);
    jobs.push(...wanted.flatMap(({ flow }) => (ofFlow.get(flow) ?? []).toSorted(byDeadline)));
    last = wanted.at(-1)?.flow ?? last;
    flows = wanted.flatMap(({ flow, count }) => (ofFlow.get(flow)?.length === count ? [flow] : []));
  }
  return { jobs, last };
}

function shares(left: number, flows: readonly number[]): { flow: number; count: number }[] {
  const share = Math.max(1, Math.floor(left / flows.length));
  return flows.slice(0, left).map((flow) => ({ flow, count: share }));
}

function byDeadline(one: LeasedRow, other: LeasedRow): number {
  return one.deadline - other.deadline || one.id - other.id;
}

/**
 * Where the queue was drained when the planner last looked it takes it for empty, and each order of a join for equally
 * good: also that which picks anew for every job there is. A list of ids leaves it no choice.
 */
const LEASE = `UPDATE jobs SET due_at = $4, is_leased = true, claim = claim + 1, holder = $5
  WHERE id = ANY(ARRAY(
    SELECT picked.id FROM unnest($2::int[], $3::int[]) AS f (flow, wanted), LATERAL (
      SELECT j.id FROM jobs j WHERE j.due_at IS NULL AND j.flow = f.flow
        AND j.queue = (SELECT number FROM queues WHERE name = $1)
      ORDER BY j.deadline, j.id LIMIT f.wanted FOR UPDATE SKIP LOCKED
    ) AS picked))
  RETURNING jobs.id, jobs.flow, jobs.message_id, jobs.parts, jobs.deadline, jobs.claim, jobs.attempt,
    jobs.was_interrupted`;

/** Flows of a queue that have ready jobs, in a circle from the one after the last, at most so many. */
async function flowsFrom(
  session: Session,
  values: [queue: string, last: number, limit: number],
): Promise<number[]> {
  const rows = await session.query<{ flow: number }>(FLOWS, values);
  return rows.map(({ flow }) => flow);
}

const NEXT = (after: string) => `(SELECT flow FROM jobs WHERE due_at IS NULL AND flow > ${after}
    AND queue = (SELECT number FROM queues WHERE name = $1) ORDER BY flow LIMIT 1)`;

const FLOWS = `WITH RECURSIVE later AS (
    SELECT ${NEXT("$2")} AS flow UNION ALL SELECT ${NEXT("later.flow")} FROM later WHERE later.flow IS NOT NULL
  ), earlier AS (
    SELECT ${NEXT("-1")} AS flow UNION ALL SELECT ${NEXT("earlier.flow")} FROM earlier WHERE earlier.flow IS NOT NULL
  )
  SELECT flow FROM (
    (SELECT flow, 0 AS turn FROM later WHERE flow IS NOT NULL LIMIT $3)
    UNION ALL
    (SELECT flow, 1 AS turn FROM earlier WHERE flow <= $2 LIMIT $3)
  ) AS circle ORDER BY turn, flow LIMIT $3`;
