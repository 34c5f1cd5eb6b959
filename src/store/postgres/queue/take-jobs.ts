import type { ClaimRequest } from "../../../core/queue/claimed-job.ts";
import type { InterruptionRow } from "../../queue/interruptions.ts";
import type { Session } from "../database/driver.ts";

export interface LeasedRow extends InterruptionRow {
  readonly id: number;
  readonly flow: number;
  readonly message_id: string;
  readonly parts: string | null;
  readonly deadline: number;
  readonly claim: number;
  readonly attempt: number;
}

export interface Taken {
  readonly jobs: readonly LeasedRow[];
  /** The last flow that was served. */
  readonly last: number;
}

/**
 * Leases ready jobs of all flows in equal shares, skipping those that another process is just taking. A loose scan of the
 * index steps from flow to flow, so the cost is that of the flows visited and the jobs taken, however many wait behind.
 *
 * @param after the flow behind which to begin
 */
export async function takeJobs(
  session: Session,
  { queue, limit, now, leaseMs, process }: ClaimRequest,
  after: number,
): Promise<Taken> {
  const jobs: LeasedRow[] = [];
  let last = after;
  let flows = await flowsFrom(session, { queue, after, limit });
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
    const withMore = wanted.flatMap(({ flow, count }) => (ofFlow.get(flow)?.length === count ? [flow] : []));
    // Flows that were not asked come first: the others may have nothing left.
    flows = [...flows.slice(wanted.length), ...withMore];
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
 * If the queue was empty when statistics were taken, the planner finds every order of a join equally good, even one that
 * picks anew for every job there is. A list of ids leaves it no choice.
 */
const LEASE = `UPDATE jobs SET due_at = $4, is_leased = true, claim = claim + 1, holder = $5
  WHERE id = ANY(ARRAY(
    SELECT picked.id FROM unnest($2::int[], $3::int[]) AS f (flow, wanted), LATERAL (
      SELECT j.id FROM jobs j WHERE j.due_at IS NULL AND j.flow = f.flow
        AND j.queue = (SELECT number FROM queues WHERE name = $1)
      ORDER BY j.deadline, j.id LIMIT f.wanted FOR UPDATE SKIP LOCKED
    ) AS picked))
  RETURNING jobs.id, jobs.flow, jobs.message_id, jobs.parts, jobs.deadline, jobs.claim, jobs.attempt,
    jobs.was_interrupted, jobs.interruptions, jobs.interrupted_claim`;

/** Up to `limit` flows of a queue that have ready jobs: those after `after`, then those from the first up to it. */
async function flowsFrom(
  session: Session,
  { queue, after, limit }: { readonly queue: string; readonly after: number; readonly limit: number },
): Promise<number[]> {
  const rows = await session.query<{ flow: number }>(FLOWS, [queue, after, limit]);
  return rows.map(({ flow }) => flow);
}

const nextFlow = (after: string) => `(SELECT flow FROM jobs WHERE due_at IS NULL AND flow > ${after}
    AND queue = (SELECT number FROM queues WHERE name = $1) ORDER BY flow LIMIT 1)`;

const FLOWS = `WITH RECURSIVE later AS (
    SELECT ${nextFlow("$2")} AS flow UNION ALL SELECT ${nextFlow("later.flow")} FROM later WHERE later.flow IS NOT NULL
  ), earlier AS (
    SELECT ${nextFlow("-1")} AS flow UNION ALL SELECT ${nextFlow("earlier.flow")} FROM earlier WHERE earlier.flow IS NOT NULL
  )
  SELECT flow FROM (
    (SELECT flow, 0 AS turn FROM later WHERE flow IS NOT NULL LIMIT $3)
    UNION ALL
    (SELECT flow, 1 AS turn FROM earlier WHERE flow <= $2 LIMIT $3)
  ) AS circle ORDER BY turn, flow LIMIT $3`;
