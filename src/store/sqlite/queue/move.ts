import type { JobInLine } from "../../../core/queue/claimed-job.ts";
import {
  joinContent,
  MESSAGE_COLUMNS,
  type MessageRow,
  toIndexes,
  toProgress,
} from "../../messages/message-rows.ts";
import type { Queue } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { ClaimParts } from "./claim.ts";

type MoveParts = Pick<ClaimParts, "accounts" | "contents" | "queues">;

/** `Queue.inLine` and `Queue.move`. */
export function createMove(db: Database, parts: MoveParts): Pick<Queue, "inLine" | "move"> {
  const { queues } = parts;
  const ofMessage = MESSAGE_COLUMNS.split(", ").map((column) => `messages.${column}`);
  const inLine = db.prepare<RowInLine>(
    `SELECT jobs.id AS job_id, jobs.flow, jobs.deadline, jobs.claim, jobs.parts AS job_parts, envelope, ${ofMessage}
     FROM jobs JOIN messages ON messages.id = jobs.message_id
     WHERE due_at IS NULL AND queue = +? AND (flow, deadline, jobs.id) > (?, ?, ?)
     ORDER BY flow, deadline, jobs.id LIMIT ?`,
  );
  const move = db.prepare("UPDATE jobs SET queue = ? WHERE id = ? AND claim = ? AND is_leased = 0");
  return {
    inLine: (name, { after, limit }) =>
      db.read(() => {
        const queue = queues.numberOf(name);
        if (queue === undefined) return [];
        const rows = inLine.all(queue, after?.flow ?? -1, after?.deadline ?? 0, after?.jobId ?? 0, limit);
        return rows.flatMap((row) => toJobInLine(parts, row) ?? []);
      }),
    move: (jobs) =>
      db.write(() => {
        for (const { jobId, claim, queue } of jobs) {
          move.run(queues.numberFor(queue), jobId, claim);
          queues.notify(queue);
        }
      }, jobs.length),
  };
}

interface RowInLine extends MessageRow {
  readonly job_id: number;
  readonly flow: number;
  readonly deadline: number;
  readonly claim: number;
  readonly job_parts: string | null;
  readonly envelope: string | null;
}

function toJobInLine({ accounts, contents }: MoveParts, row: RowInLine): JobInLine | undefined {
  const account = accounts.byNumber(row.account)?.account;
  const content = row.envelope === null ? contents.find(row) : joinContent(row.envelope, null);
  if (!account || !content) return undefined;
  return {
    jobId: row.job_id,
    messageId: row.id,
    flow: row.flow,
    deadline: row.deadline,
    claim: row.claim,
    accountId: account.id,
    recipient: row.recipient,
    ...toIndexes(row.job_parts),
    progress: toProgress(row),
    content,
  };
}
