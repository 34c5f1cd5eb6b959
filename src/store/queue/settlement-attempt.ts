import type { Attempt } from "../../core/messages/progress.ts";
import type { Settlement } from "../../core/queue/claimed-job.ts";
import { toIndexes } from "../messages/message-rows.ts";

/** A settlement as an attempt at the parts its job covers, as the job's row says them; `null`: all. */
export function toAttempt(settlement: Settlement, parts: string | null): Attempt {
  const { parts: only } = toIndexes(parts);
  return {
    at: settlement.at,
    ...(settlement.connectorId !== undefined && { connectorId: settlement.connectorId }),
    outcomes: settlement.outcomes,
    ...(settlement.detail && { detail: settlement.detail }),
    next: settlement.next,
    ...(only && { only }),
  };
}
