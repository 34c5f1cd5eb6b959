import type { RefusedJob } from "../../core/receipts/late-answer.ts";
import { toIndexes } from "../messages/message-rows.ts";

/** The columns of a `RefusedRow`. */
export const REFUSED_COLUMNS = "id, parts, due_at, is_leased, attempt, deadline";

/** The row of a job that a late refusal may be about. */
export interface RefusedRow {
  readonly id: number;
  readonly parts: string | null;
  readonly due_at: number | null;
  /** 0 or 1 in an engine without booleans. */
  readonly is_leased: number | boolean;
  readonly attempt: number;
  readonly deadline: number;
}

/** @param isHolding whether the account wants nothing sent again that may have been sent */
export function toRefusedJob(row: RefusedRow, isHolding: boolean): RefusedJob {
  const { attempt, deadline } = row;
  const isLeased = Boolean(row.is_leased);
  const isHeld = !isLeased && row.due_at === deadline;
  return { ...toIndexes(row.parts), isLeased, isHeld, attempt, deadline, isHolding };
}
