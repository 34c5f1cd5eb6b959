import type { EmailContent } from "../../core/messages/message.ts";
import type { ClaimedJob, ClaimRequest, Settlement } from "../../core/queue/claimed-job.ts";
import type { Sweeper } from "../../core/queue/in-flight-jobs.ts";

/** Jobs, from the line to their end: what the delivery engine needs. `Intake.accept` enqueues them. */
export interface Queue {
  /**
   * Leases up to `limit` ready jobs of one queue: round-robin over its flows from where the last claim of this queue ended,
   * earliest deadline first within a flow. Their messages become `sending`. No other claim gets a job before it is settled or
   * released, or its lease has ended (`stage`).
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;
  /**
   * Records the outcomes of attempts, in one transaction: parts, status, timeline, provider ids, parked receipts that now
   * match, the job's end or next time. `false` where its claim is no longer the latest, or is settled already: such a settlement
   * changes no status, but its provider ids and a timeline entry are kept.
   */
  settle(settlements: readonly Settlement[]): Promise<readonly boolean[]>;
  /** Puts claimed jobs that were never sent back in line: no attempt counts, no timeline entry. Stale claims are ignored. */
  release(jobs: readonly ReleasedJob[], now: number): Promise<void>;
  /**
   * The texts of an email whose content `isBodyApart`, read in pieces so that no other call waits; `undefined` if they
   * have been wiped since. The method is absent where claims bring all texts themselves.
   */
  largeBody?(messageId: string): Promise<Pick<EmailContent, "bodyText" | "bodyHtml"> | undefined>;
  /**
   * Makes waiting jobs ready whose time has come: `scheduled` messages become `queued`, expired leases are marked interrupted.
   * A lease that seems expired goes on where the job is in flight, or claimed by another process that lives: a wall clock may
   * have jumped, or differ from the one by which the lease was taken. Without a `sweeper` nothing is in flight. Returns how many it
   * moved, at most `limit`.
   */
  stage(now: number, limit: number, sweeper?: Sweeper): Promise<number>;
  /** When the next waiting job is due; `undefined` if none waits. */
  nextDueAt(): Promise<number | undefined>;
  /**
   * Ends ready jobs whose window is over: SMS `expired`; email parts `bounced` if the recipient's server deferred them
   * last, else `failed`. Returns how many it ended, at most `limit`.
   */
  expire(now: number, limit: number): Promise<number>;
  /** What is in line, queue by queue. Jobs are counted up to `countTo`: the count is what costs, so ask for no more than is needed. */
  backlog(countTo: number): Promise<readonly QueueBacklog[]>;
  /** Calls `listener` with the queue's name whenever jobs may have become ready. */
  onReady(listener: (queue: string) => void): () => void;
}

export interface ReleasedJob {
  readonly jobId: number;
  readonly claim: number;
  /** The queue that it moves to; absent: it stays in its own. */
  readonly queue?: string;
}

export interface QueueBacklog {
  readonly queue: string;
  /** Jobs in line, as far as they were counted. */
  readonly ready: number;
  /** When the oldest of them became ready; absent if none is. */
  readonly oldestReadySince?: number;
}
