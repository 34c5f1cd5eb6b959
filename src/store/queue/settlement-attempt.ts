import type { EndedAttempt } from "../../core/messages/progress.ts";
import type { Settlement } from "../../core/queue/claimed-job.ts";
import { toIndexes } from "../messages/message-rows.ts";

/** @param parts the indexes of the parts that the job covers, as they are stored: JSON, or `null` for all */
export function toAttempt(settlement: Settlement, parts: string | null): EndedAttempt {
  const { parts: only } = toIndexes(parts);
  return {
    at: settlement.at,
    ...(settlement.connectorId !== undefined && { connectorId: settlement.connectorId }),
    claim: settlement.claim,
    outcomes: settlement.outcomes,
    ...(settlement.detail && { detail: settlement.detail }),
    next: settlement.next,
    ...(only && { only }),
  };
}
