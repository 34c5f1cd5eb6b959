import { MESSAGE_COLUMNS } from "../../messages/message-rows.ts";

/**
 * The status of a message of table `m`. Claims leave the row of a message alone that has one job, as nearly all do: it
 * stands as `queued`, and is `sending` while that job is leased.
 */
export function statusOf(m: string): string {
  return `CASE WHEN ${isOfOneJob(m)} AND EXISTS (
    SELECT 1 FROM jobs WHERE jobs.id = ${m}.first_job AND jobs.message_id = ${m}.id AND jobs.is_leased = 1)
    THEN 'sending' ELSE ${m}.status END`;
}

function isOfOneJob(m: string): string {
  return `${m}.status = 'queued' AND ${m}.first_job = ${m}.last_job`;
}

/** The columns of a `MessageRow`. */
export function columnsOf(m: string): string {
  return columnsWith(m, statusOf(m));
}

/** The same where it is known that the job has been leased until now. */
export function triedColumnsOf(m: string): string {
  return columnsWith(m, `CASE WHEN ${isOfOneJob(m)} THEN 'sending' ELSE ${m}.status END`);
}

function columnsWith(m: string, status: string): string {
  return MESSAGE_COLUMNS.split(", ")
    .map((column) => (column === "status" ? `${status} AS status` : `${m}.${column}`))
    .join(", ");
}
