import type { ClaimedJob, ClaimRequest } from "../../../core/queue/claimed-job.ts";
import { isOfSandbox } from "../../../core/records/routes.ts";
import { senderKeyOf } from "../../../core/suppressions/opt-out.ts";
import { uuidTime } from "../../../core/uuid.ts";
import {
  joinContent,
  MESSAGE_COLUMNS,
  type MessageRow,
  toIndexes,
  toProgress,
} from "../../messages/message-rows.ts";
import { passOver } from "../../pass-over.ts";
import { type InterruptionRow, toInterruptions } from "../../queue/interruptions.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import { createForIds } from "../database/for-ids.ts";
import type { Contents } from "../messages/contents.ts";
import type { AccountCache } from "../records/account-cache.ts";
import type { OptOuts } from "../suppressions/opt-outs.ts";
import { createPutOffClaimed, type TakenJob } from "./put-off.ts";
import type { Queues } from "./queues.ts";

export interface ClaimParts {
  readonly accounts: AccountCache;
  readonly contents: Contents;
  readonly optOuts: OptOuts;
  readonly queues: Queues;
}

/** `Queue.claim`. */
export function createClaim(db: Database, parts: ClaimParts): Queue["claim"] {
  const leaseReady = createLeaseReady(db);
  const remove = db.prepare("DELETE FROM jobs WHERE id = ?");
  const toClaimedJob = createClaimedJobs(parts);
  const setSending = createForIds(
    db,
    "UPDATE messages SET status = 'sending' WHERE status = 'queued' AND id IN",
  );
  const putOff = createPutOffClaimed(db, parts);
  const lastFlow = new Map<string, number>();

  const claimNow = (request: ClaimRequest, take: Take): Claimed => {
    const after = lastFlow.get(request.queue) ?? -1;
    const queue = parts.queues.numberOf(request.queue);
    if (queue === undefined) return { claimed: [], last: after };
    const claimed: ClaimedJob[] = [];
    const { leased, last } = leaseReady(queue, { ...request, after }, take);
    take(leased);
    setSending(leased.flatMap((row) => (row.id !== null && !row.is_of_one_job ? [row.id] : [])));
    for (const row of leased) {
      const job = toClaimedJob(row, request.queue);
      if (job) claimed.push(job);
      else remove.run(row.job_id);
    }
    return { claimed, last };
  };
  const claimSome = async (request: ClaimRequest, limit: number, take: Take) => {
    const work = () => {
      const done = claimNow({ ...request, limit }, take);
      // It was asked for fewer than there may be.
      if (limit < request.limit && done.claimed.length > 0) parts.queues.notify(request.queue);
      return done;
    };
    const { claimed, last } = await db.write(work, limit);
    // Only after the commit: after a claim that failed, the next one begins where that one did.
    lastFlow.set(request.queue, last);
    return claimed;
  };

  return (request) =>
    passOver({
      ...request,
      run: (limit, take: Take) => claimSome(request, limit, take),
      putOff: (job, dueAt) => putOff(request.queue, job, dueAt),
    });
}

interface Claimed {
  readonly claimed: readonly ClaimedJob[];
  /** The last flow that was served. */
  readonly last: number;
}

type Take = (jobs: readonly TakenJob[]) => void;

interface ReadyRow extends Omit<MessageRow, "id">, InterruptionRow {
  readonly envelope: string | null;
  readonly body: string | null;
  readonly job_id: number;
  readonly message_id: string;
  readonly flow: number;
  /** The message's id; `null`, like all of its columns, if the message has been pruned. */
  readonly id: string | null;
  readonly job_parts: string | null;
  readonly claim: number;
  readonly attempt: number;
  /** Whether it is the message's only job, so that the message's row need not change: see `message-status.ts`. */
  readonly is_of_one_job: number | null;
}

/**
 * Begins behind the flow `after`. If it fails because of the message of one of some jobs, it calls `take` with these. `last`: the last flow
 * that was served.
 */
type LeaseReady = (
  queue: number,
  request: Pick<ClaimRequest, "limit" | "now" | "leaseMs"> & { readonly after: number },
  take: Take,
) => { readonly leased: readonly ReadyRow[]; readonly last: number };

/**
 * Leases ready jobs of all flows in equal shares. A loose index scan steps from flow to flow, so the cost depends on the flows
 * visited and the jobs taken, not on how many wait behind them.
 */
function createLeaseReady(db: Database): LeaseReady {
  const flowsFrom = createFlowScan(db);
  const readSome = createReadSome(db);
  const setLeased = createForIds(
    db,
    "UPDATE jobs SET due_at = ?, is_leased = 1, claim = claim + 1 WHERE id IN",
  );

  return (queue, { limit, now, leaseMs, after }, take) => {
    const leased: ReadyRow[] = [];
    let last = after;
    const leaseSome = (flow: number, wanted: number): number => {
      const jobs = readSome(take, queue, flow, wanted);
      const ids = jobs.map((job) => job.job_id);
      setLeased(ids, now + leaseMs);
      leased.push(...jobs);
      last = flow;
      return jobs.length;
    };
    let flows = flowsFrom(queue, after, limit);
    while (leased.length < limit && flows.length > 0) {
      const share = Math.max(1, Math.floor((limit - leased.length) / flows.length));
      const withMore: number[] = [];
      for (const flow of flows) {
        const wanted = Math.min(share, limit - leased.length);
        if (wanted > 0 && leaseSome(flow, wanted) === wanted) withMore.push(flow);
      }
      flows = withMore;
    }
    return { leased, last };
  };
}

/** Reads the first jobs of a flow with their messages. If it fails because of one of these, it calls `take` with the jobs. */
function createReadSome(db: Database) {
  const ofMessage = `${MESSAGE_COLUMNS}, envelope, body`.split(", ").map((column) => `messages.${column}`);
  const earliest = db.prepare<ReadyRow>(
    `SELECT jobs.id AS job_id, jobs.message_id, jobs.flow, jobs.parts AS job_parts, claim, attempt, was_interrupted,
       interruptions, interrupted_claim, first_job = last_job AS is_of_one_job, ${ofMessage}
     FROM jobs LEFT JOIN messages ON messages.id = jobs.message_id
     WHERE due_at IS NULL AND queue = +? AND flow = +? ORDER BY deadline, jobs.id LIMIT ?`,
  );
  const withoutMessages = db.prepare<TakenJob>(
    `SELECT id AS job_id, message_id, flow FROM jobs
     WHERE due_at IS NULL AND queue = +? AND flow = +? ORDER BY deadline, id LIMIT ?`,
  );
  return (take: Take, ...of: readonly [queue: number, flow: number, wanted: number]) => {
    try {
      return earliest.all(...of);
    } catch (error) {
      take(withoutMessages.all(...of));
      throw error;
    }
  };
}

/** Up to `limit` flows of a queue that have ready jobs: those after `last`, then those from the first up to `last`. */
function createFlowScan(db: Database): (queue: number, last: number, limit: number) => number[] {
  const next = db.prepare<{ flow: number }>(
    "SELECT flow FROM jobs WHERE due_at IS NULL AND queue = +? AND flow > +? ORDER BY flow LIMIT 1",
  );
  return (queue, last, limit) => {
    const flows: number[] = [];
    const walk = (after: number, upTo: number) => {
      let flow = next.get(queue, after)?.flow;
      while (flow !== undefined && flow <= upTo && flows.length < limit) {
        flows.push(flow);
        flow = next.get(queue, flow)?.flow;
      }
    };
    walk(last, Number.POSITIVE_INFINITY);
    if (last >= 0) walk(-1, last);
    return flows;
  };
}

/** Makes the claimed job of a row; `undefined` if the message has been pruned, so that the job is an orphan. */
function createClaimedJobs({ accounts, contents, optOuts }: ClaimParts) {
  return (job: ReadyRow, queue: string): ClaimedJob | undefined => {
    if (!hasMessage(job)) return undefined;
    const entry = accounts.byNumber(job.account);
    const content = job.envelope === null ? contents.find(job) : joinContent(job.envelope, job.body);
    if (!entry || !content) return undefined;
    const isQueued = job.status === "queued";
    return {
      jobId: job.job_id,
      flow: job.flow,
      claim: job.claim + 1,
      attempt: job.attempt,
      ...toInterruptions(job),
      accountId: entry.account.id,
      accountMode: isOfSandbox(queue) ? "sandbox" : entry.account.mode,
      settings: entry.settings,
      ...toIndexes(job.job_parts),
      ...toJobMessage(job),
      progress: { ...toProgress(job), ...(isQueued && SENDING) },
      content,
      ...(hasOptedOut(optOuts, entry.account.id, { content, recipient: job.recipient }) && OPTED_OUT),
    };
  };
}

function hasMessage(job: ReadyRow): job is ReadyRow & MessageRow {
  return job.id !== null;
}

const SENDING = { status: "sending" } as const;

const OPTED_OUT = { isOptedOut: true } as const;

function hasOptedOut(
  optOuts: OptOuts,
  accountId: string,
  { content, recipient }: Pick<ClaimedJob, "content" | "recipient">,
): boolean {
  return content.channel === "sms" && optOuts.covers({ accountId, sender: senderKeyOf(content), recipient });
}

function toJobMessage(row: MessageRow) {
  return {
    messageId: row.id,
    recipient: row.recipient,
    createdAt: uuidTime(row.id) ?? 0,
    expiresAt: row.expires_at,
  };
}
