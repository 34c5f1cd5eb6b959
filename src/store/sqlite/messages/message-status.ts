import { MESSAGE_COLUMNS } from "../../messages/message-rows.ts";

/**
 * SQL for the status of a message in table `m`. Nearly all messages have a single job, and claims do not write to their rows: such
 * a row says `queued` all the time, but the message is `sending` while its job is leased.
 */
export function statusOf(m: string): string {
  return `CASE WHEN ${hasOneQueuedJob(m)} AND EXISTS (
    SELECT 1 FROM jobs WHERE jobs.id = ${m}.first_job AND jobs.message_id = ${m}.id AND jobs.is_leased = 1)
    THEN 'sending' ELSE ${m}.status END`;
}

function hasOneQueuedJob(m: string): string {
  return `${m}.status = 'queued' AND ${m}.first_job = ${m}.last_job`;
}

/** The columns of a `MessageRow`. */
export function columnsOf(m: string): string {
  return columnsWith(m, statusOf(m));
}

/** Like `columnsOf`, for a message whose job is known to be leased, or to have been leased until now. */
export function leasedColumnsOf(m: string): string {
  return columnsWith(m, `CASE WHEN ${hasOneQueuedJob(m)} THEN 'sending' ELSE ${m}.status END`);
}

function columnsWith(m: string, status: string): string {
  return MESSAGE_COLUMNS.split(", ")
    .map((column) => (column === "status" ? `${status} AS status` : `${m}.${column}`))
    .join(", ");
}
