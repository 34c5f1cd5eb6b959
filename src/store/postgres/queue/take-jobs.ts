import type { ClaimRequest, PlaceInLine } from "../../../core/queue/claimed-job.ts";
import type { InterruptionRow } from "../../queue/interruptions.ts";
import type { Session } from "../database/driver.ts";
import type { LineStart } from "./lines.ts";

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
  /** The last flow that was looked at, from where the claim began and once round at the most. */
  readonly lookedTo: number;
}

/**
 * Leases ready jobs of all flows in equal shares, skipping those that another process is just taking. A loose scan of the
 * index steps from flow to flow, so the cost is that of the flows visited and the jobs taken, however many wait behind.
 */
export async function takeJobs(session: Session, request: ClaimRequest, start: LineStart): Promise<Taken> {
  const { queue, limit, now, leaseMs, process } = request;
  const jobs: LeasedRow[] = [];
  let last = start.after;
  let heads = await findHeads(session, request, start);
  const lookedTo = (heads.length === limit ? heads.at(-1)?.flow : undefined) ?? start.after;
  while (jobs.length < limit && heads.length > 0) {
    const wanted = shares(limit - jobs.length, heads);
    const rows = await session.query<LeasedRow>(LEASE, [
      queue,
      ...columnsOf(wanted.map(({ head }) => head)),
      wanted.map(({ count }) => count),
      now + leaseMs,
      process ?? null,
    ]);
    const ofFlow = Map.groupBy(rows.toSorted(byDeadline), ({ flow }) => flow);
    jobs.push(...wanted.flatMap(({ head }) => ofFlow.get(head.flow) ?? []));
    last = wanted.at(-1)?.head.flow ?? last;
    const withMore = wanted.flatMap(({ head: { flow }, count }) => {
      const taken = ofFlow.get(flow)?.at(count - 1);
      return taken ? [placeOf(taken)] : [];
    });
    // Flows that were not asked come first: the others may have nothing left.
    heads = [...heads.slice(wanted.length), ...withMore];
  }
  return { jobs, last, lookedTo };
}

export function placeOf({ flow, deadline, id }: LeasedRow): PlaceInLine {
  return { flow, deadline, jobId: id };
}

function shares(left: number, heads: readonly PlaceInLine[]): { head: PlaceInLine; count: number }[] {
  const share = Math.max(1, Math.floor(left / heads.length));
  return heads.slice(0, left).map((head) => ({ head, count: share }));
}

function columnsOf(places: readonly PlaceInLine[]) {
  return [
    places.map(({ flow }) => flow),
    places.map(({ deadline }) => deadline),
    places.map(({ jobId }) => jobId),
  ];
}

function byDeadline(one: LeasedRow, other: LeasedRow): number {
  return one.deadline - other.deadline || one.id - other.id;
}

/**
 * If the queue was empty when statistics were taken, the planner finds every order of a join equally good, even one that
 * picks anew for every job there is. A list of ids leaves it no choice. Looks at no place before the first job of each flow: what was
 * done there may still be in the index.
 */
const LEASE = `UPDATE jobs SET due_at = $6, is_leased = true, claim = claim + 1, holder = $7
  WHERE id = ANY(ARRAY(
    SELECT picked.id FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::int[]) AS f (flow, deadline, id, wanted), LATERAL (
      SELECT j.id FROM jobs j WHERE j.due_at IS NULL AND j.flow = f.flow
        AND j.queue = (SELECT number FROM queues WHERE name = $1) AND (j.deadline, j.id) >= (f.deadline, f.id)
      ORDER BY j.deadline, j.id LIMIT f.wanted FOR UPDATE SKIP LOCKED
    ) AS picked))
  RETURNING jobs.id, jobs.flow, jobs.message_id, jobs.parts, jobs.deadline, jobs.claim, jobs.attempt,
    jobs.was_interrupted, jobs.interruptions, jobs.interrupted_claim`;

/**
 * The first ready job of up to `limit` flows of a queue: of those after `after`, then of those from the first up to it. Jobs up to a
 * flow's floor are not looked at.
 */
async function findHeads(
  session: Session,
  { queue, limit }: ClaimRequest,
  start: LineStart,
): Promise<readonly PlaceInLine[]> {
  const stretches = stretchesOf(start);
  return session.query<PlaceInLine>(HEADS, [
    queue,
    ...columnsOf(stretches.map(({ behind }) => behind)),
    stretches.map(({ before }) => before),
    limit,
  ]);
}

/** A part of the line: from behind a place to before a flow. */
interface Stretch {
  readonly behind: PlaceInLine;
  readonly before: number;
}

/** After the last flow. */
const NO_FLOW = 2 ** 31 - 1;

/** The parts of the line that are to be looked at, in the order in which its flows have their turn. */
function stretchesOf({ after, floors }: LineStart): readonly Stretch[] {
  const turn = (from: number, before: number): Stretch[] => {
    const places = floors.filter(({ flow }) => flow > from && flow < before);
    return [endOf(from), ...places].map((behind, index) => ({
      behind,
      before: places[index]?.flow ?? before,
    }));
  };
  return [...turn(after, NO_FLOW), ...turn(-1, after + 1)];
}

function endOf(flow: number): PlaceInLine {
  return { flow, deadline: Number.MAX_SAFE_INTEGER, jobId: Number.MAX_SAFE_INTEGER };
}

const headSql = (after: string) => `SELECT j.flow, j.deadline, j.id FROM jobs j
    WHERE j.due_at IS NULL AND j.queue = (SELECT number FROM queues WHERE name = $1)
      AND ${after} AND j.flow < s.before
    ORDER BY j.flow, j.deadline, j.id LIMIT 1`;

const HEADS = `SELECT found.flow, found.deadline, found.id AS "jobId"
  FROM unnest($2::int[], $3::bigint[], $4::bigint[], $5::int[]) AS s (flow, deadline, id, before), LATERAL (
    WITH RECURSIVE heads AS (
      (${headSql("(j.flow, j.deadline, j.id) > (s.flow, s.deadline, s.id)")})
      UNION ALL
      SELECT next.flow, next.deadline, next.id FROM heads, LATERAL (${headSql("j.flow > heads.flow")}) AS next
    )
    SELECT flow, deadline, id FROM heads
  ) AS found
  LIMIT $6`;
