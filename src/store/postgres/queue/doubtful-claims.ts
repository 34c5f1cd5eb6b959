import type { ClaimedJob, ClaimRequest } from "../../../core/queue/claimed-job.ts";
import type { Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { Database } from "../database/transactions.ts";

/** A claim whose caller was told that it may be stored or not. So nobody works on its jobs. */
export interface DoubtfulClaim {
  readonly request: ClaimRequest;
  readonly claimed: readonly ClaimedJob[];
}

/** How many doubtful claims to remember. The jobs of further ones wait for the end of their lease. */
const MAX_DOUBTS = 1_000;

/** Puts the jobs of doubtful claims back in line as soon as they are seen to be leased. Otherwise they would wait for the lease's end. */
export function createDoubtfulClaims(db: Database, release: Queue["release"]) {
  let doubts: readonly DoubtfulClaim[] = [];
  return {
    /** Ignores a claim without the name of its process, since it could be taken for another's. */
    add(doubt: DoubtfulClaim) {
      if (doubt.request.process === undefined || doubts.length >= MAX_DOUBTS) return;
      if (doubt.claimed.length > 0) doubts = [...doubts, doubt];
    },
    /** To be called before each claim. A claim that is not stored may still be, until its lease would have ended. */
    async putBack(now: number) {
      for (const doubt of doubts) {
        const isStored = await isLeased(db, doubt.request, doubt.claimed);
        if (isStored) await release(doubt.claimed, now);
        if (isStored || now >= doubt.request.now + doubt.request.leaseMs)
          doubts = doubts.filter((each) => each !== doubt);
      }
    },
  };
}

/**
 * Whether the claim is stored: one job stands for all, and without one there was nothing to store. If it is not, another
 * process may have claimed the job meanwhile, under the same number.
 */
export async function isLeased(
  session: Session,
  { now, leaseMs, process }: ClaimRequest,
  [job]: readonly ClaimedJob[],
): Promise<boolean> {
  if (!job) return true;
  const sql = `SELECT 1 FROM jobs WHERE id = $1 AND claim = $2 AND is_leased AND due_at = $3
    AND holder IS NOT DISTINCT FROM $4`;
  return (await session.query(sql, [job.jobId, job.claim, now + leaseMs, process ?? null])).length > 0;
}
