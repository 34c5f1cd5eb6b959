import type { Clock } from "../../../core/clock.ts";
import type { ClaimedJob, ClaimRequest } from "../../../core/queue/claimed-job.ts";
import type { Account } from "../../../core/records/accounts.ts";
import { isOfSandbox } from "../../../core/records/routes.ts";
import type { StoredSettings } from "../../../core/records/settings.ts";
import { senderKeyOf } from "../../../core/suppressions/opt-out.ts";
import { uuidTime } from "../../../core/uuid.ts";
import { joinContent, type MessageRow, toIndexes, toProgress } from "../../messages/message-rows.ts";
import { passOver } from "../../pass-over.ts";
import { toInterruptions } from "../../queue/interruptions.ts";
import { OutcomeUnknown, type Queue } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import type { Database, Transaction } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import { readSettings } from "../records/account-settings.ts";
import { findOptedOut } from "../suppressions/opt-outs.ts";
import { createDoubtfulClaims, isLeased } from "./doubtful-claims.ts";
import { createLines, type LineStart } from "./lines.ts";
import { putOffClaimed } from "./put-off.ts";
import type { Queues } from "./queues.ts";
import { type LeasedRow, placeOf, type Taken, takeJobs } from "./take-jobs.ts";

interface ClaimParts {
  readonly clock: Clock;
  readonly erasedNames: ErasedNames;
  readonly release: Queue["release"];
  readonly queues: Pick<Queues, "notify">;
}

/** `Queue.claim`. */
export function createClaim(
  db: Database,
  { clock, erasedNames, release, queues }: ClaimParts,
): Queue["claim"] {
  const lines = createLines(db, clock);
  const doubts = createDoubtfulClaims(db, release);
  const claimSome = async (request: ClaimRequest, take: Take) => {
    const { queue } = request;
    const tries: Claimed[] = [];
    const { claimed, start, taken } = await db
      .transaction(
        async (session) => {
          const start = lines.startOf(queue);
          const taken = await lines.timed(queue, start, () => takeJobs(session, request, start));
          take(taken.jobs);
          const claimed = await toClaims(session, erasedNames, { queue, jobs: taken.jobs });
          const tried = { claimed, start, taken };
          tries.push(tried);
          return tried;
        },
        (session, tried) => isLeased(session, request, tried.claimed),
      )
      .catch((error) => {
        if (error instanceof OutcomeUnknown) doubts.add({ request, claimed: tries.at(-1)?.claimed ?? [] });
        throw error;
      });
    // Only after the commit: after a claim that failed, the next one begins where that one did.
    lines.note(queue, start, { ...taken, places: taken.jobs.map(placeOf) });
    return claimed;
  };
  return async (request) => {
    await doubts.putBack(request.now);
    return passOver({
      ...request,
      async run(limit, take: Take) {
        const claimed = await claimSome({ ...request, limit }, take);
        // It was asked for fewer than there may be.
        if (limit < request.limit && claimed.length > 0) queues.notify([request.queue]);
        return claimed;
      },
      putOff: (job, dueAt) => putOffClaimed(db, { ...job, queue: request.queue }, dueAt),
    });
  };
}

type Take = (jobs: readonly LeasedRow[]) => void;

interface Claimed {
  readonly claimed: readonly ClaimedJob[];
  readonly start: LineStart;
  readonly taken: Taken;
}

/** Marks the messages of jobs that were taken as `sending`, and reads what is to be sent. */
async function toClaims(
  session: Transaction,
  erasedNames: ErasedNames,
  { queue, jobs }: { readonly queue: string; readonly jobs: readonly LeasedRow[] },
): Promise<readonly ClaimedJob[]> {
  if (jobs.length === 0) return [];
  const ids = [...new Set(jobs.map((job) => job.message_id))].sort();
  session.run(SENDING, [ids]);
  const found = await session.query<FoundRow>(FIND, [ids]);
  const messages = new Map(found.map((row) => [row.id, row]));
  await removeOrphans(session, jobs, messages);
  const accountIds = found.map((row) => row.account_id);
  const [optedOut, settingsOf] = await Promise.all([
    optedOutOf(session, erasedNames, found),
    readSettings(session, accountIds),
  ]);
  return jobs.flatMap((job) => {
    const message = messages.get(job.message_id);
    if (!message) return [];
    return [toClaimed(job, { message, queue, optedOut, settings: settingsOf(message.account_id) })];
  });
}

/**
 * A join rather than a list of ids, so that for each id only the tables of its day are searched. In the order of ids,
 * like every statement that locks messages.
 */
const SENDING = `UPDATE messages m SET status = 'sending' FROM unnest($1::uuid[]) AS t (id)
  WHERE m.id = t.id AND m.status = 'queued'`;

/**
 * The account is looked up by an array of one, so that the planner never begins with the accounts and reads all their messages:
 * early in a day it may expect one of each.
 */
const FIND = `SELECT m.id, m.channel, m.recipient, m.status, m.parts, m.sequence, m.position, m.error, m.expires_at,
    m.callback_host, c.envelope, c.body, a.id AS account_id, a.mode
  FROM unnest($1::uuid[]) AS t (id) JOIN messages m ON m.id = t.id JOIN contents c ON c.id = m.content
  JOIN accounts a ON a.number = ANY(ARRAY[m.account])`;

interface FoundRow extends Omit<MessageRow, "account" | "content"> {
  readonly envelope: string;
  readonly body: string | null;
  readonly account_id: string;
  readonly mode: Account["mode"];
}

/** Removes jobs whose message has been pruned: nothing is left to send. */
async function removeOrphans(
  session: Session,
  jobs: readonly LeasedRow[],
  messages: ReadonlyMap<string, FoundRow>,
): Promise<void> {
  const orphans = jobs.filter((job) => !messages.has(job.message_id)).map(({ id }) => id);
  if (orphans.length > 0) await session.query("DELETE FROM jobs WHERE id = ANY($1)", [orphans]);
}

/** Ids of the messages whose recipient has opted out of their sender, or of their account. */
async function optedOutOf(
  session: Session,
  erasedNames: ErasedNames,
  found: readonly FoundRow[],
): Promise<ReadonlySet<string>> {
  const sms = found.filter(({ channel }) => channel === "sms");
  const targets = sms.map((row) => ({
    accountId: row.account_id,
    sender: senderKeyOf(joinContent(row.envelope, null)),
    recipient: row.recipient,
  }));
  const indexes = await findOptedOut(session, erasedNames, targets);
  return new Set(sms.flatMap(({ id }, index) => (indexes.has(index) ? [id] : [])));
}

function toClaimed(
  job: LeasedRow,
  {
    message,
    queue,
    optedOut,
    settings,
  }: { message: FoundRow; queue: string; optedOut: ReadonlySet<string>; settings: StoredSettings },
): ClaimedJob {
  return {
    jobId: job.id,
    flow: job.flow,
    claim: job.claim,
    attempt: job.attempt,
    ...toInterruptions(job),
    accountId: message.account_id,
    accountMode: isOfSandbox(queue) ? "sandbox" : message.mode,
    settings,
    ...toIndexes(job.parts),
    messageId: message.id,
    recipient: message.recipient,
    createdAt: uuidTime(message.id) ?? 0,
    expiresAt: message.expires_at,
    progress: toProgress(message),
    content: joinContent(message.envelope, message.body),
    ...(optedOut.has(message.id) && { isOptedOut: true as const }),
  };
}
