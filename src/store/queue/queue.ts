import type { EmailContent } from "../../core/messages/message.ts";
import type {
  ClaimedJob,
  ClaimRequest,
  JobInLine,
  PlaceInLine,
  Settlement,
} from "../../core/queue/claimed-job.ts";
import type { Sweeper } from "../../core/queue/in-flight-jobs.ts";

/** Jobs, from the ready line to their end, as the delivery engine needs them. `Intake.accept` enqueues them. */
export interface Queue {
  /**
   * Leases up to `limit` ready jobs of one queue: round-robin over its flows, starting where the last claim of this queue
   * ended; within a flow, earliest deadline first. Their messages become `sending`. No other claim gets such a job until it is
   * settled or released, or its lease has ended (`stage`).
   */
  claim(request: ClaimRequest): Promise<readonly ClaimedJob[]>;
  /**
   * Records the outcomes of attempts, in one transaction: parts, status, timeline, provider ids, the parked receipts that now
   * match, and the job's end or next time. The result is `false` for a settlement whose claim is no longer the latest, or has
   * been settled already: what it sent counts as sent, with its provider ids; the rest is only noted on the timeline.
   */
  settle(settlements: readonly Settlement[]): Promise<readonly boolean[]>;
  /**
   * Makes claimed jobs ready again that were not sent: no attempt is counted, no timeline entry added. If the lease has run out and
   * nobody else has claimed the job, it is no longer taken for interrupted, and the timeline says so. The result is `false` for
   * a claim that is no longer the latest, or is settled, which is left alone.
   */
  release(jobs: readonly ReleasedJob[], now: number): Promise<readonly boolean[]>;
  /** Up to `limit` ready jobs of a queue, by flow, then by deadline: the first ones, or those after a place. Claims nothing. */
  inLine(
    queue: string,
    page: { readonly after?: PlaceInLine; readonly limit: number },
  ): Promise<readonly JobInLine[]>;
  /**
   * Moves ready or waiting jobs to other queues. Those that are ready have been in line there for as long as in their own queue. Ignores
   * those that have been claimed since they were read. Unlike a claim it leaves nothing in doubt, whatever becomes of the process
   * meanwhile.
   */
  move(jobs: readonly MovedJob[]): Promise<void>;
  /**
   * The texts of an email whose content says `isBodyApart`, read in pieces so that no other call has to wait; `undefined` if
   * they have been wiped since. An engine whose claims return all texts lacks this method.
   */
  largeBody?(messageId: string): Promise<Pick<EmailContent, "bodyText" | "bodyHtml"> | undefined>;
  /**
   * Makes ready the waiting jobs whose time has come: messages that were `scheduled` become `queued`, and jobs whose lease has
   * expired are marked as interrupted. A lease that only seems expired goes on if its job is in flight here, or was claimed by
   * another process that is alive: the wall clock may have jumped, or differ from the one that the lease was taken by. Without
   * a `sweeper`, nothing is in flight here. Returns how many jobs it moved, at most `limit`.
   */
  stage(now: number, limit: number, sweeper?: Sweeper): Promise<number>;
  /**
   * When the next waiting job is due; `undefined` if no job waits. If `now` is given, a job that has been due for more than ten seconds may
   * be overlooked for a while, by this call and by `stage`, where a look at all would be slow.
   */
  nextDueAt(now?: number): Promise<number | undefined>;
  /**
   * Ends ready jobs whose delivery window is over. An SMS becomes `expired`; a recipient of an email `bounced` if its server
   * deferred it at the last attempt, else `failed`. Returns how many jobs it ended, at most `limit`.
   */
  expire(now: number, limit: number): Promise<number>;
  /** How many jobs are ready in each queue, counted up to `countTo`. Counting is what costs, so ask for no more than you need. */
  backlog(countTo: number): Promise<readonly QueueBacklog[]>;
  /** Calls `listener` with the queue's name whenever jobs may have become ready. */
  onReady(listener: (queue: string) => void): () => void;
}

/** A job as it was claimed, with what was in doubt at that time. */
export type ReleasedJob = Pick<
  ClaimedJob,
  "jobId" | "claim" | "messageId" | "wasInterrupted" | "interruptions" | "interruptedClaim"
>;

export interface MovedJob extends Pick<ClaimedJob, "jobId" | "claim" | "messageId"> {
  /** The queue to move it to. */
  readonly queue: string;
}

export interface QueueBacklog {
  readonly queue: string;
  /** Ready jobs, as far as they were counted. */
  readonly ready: number;
  /** When the one that has been ready for longest became so; absent if none is ready. */
  readonly oldestReadySince?: number;
}
