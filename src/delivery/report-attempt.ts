import type { Log } from "../core/log.ts";
import type { SendOutcome } from "../core/messages/outcome.ts";
import type { ClaimedJob, Settlement } from "../core/queue/claimed-job.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";

/** Reports an attempt to the metrics and the debug log. */
export function reportAttempt(
  deps: { readonly observe: DeliveryMetrics; readonly log: Log },
  job: ClaimedJob,
  attempt: { readonly outcome: SendOutcome; readonly settlement: Settlement; readonly ms: number },
): void {
  const kinds = attempt.outcome.parts.flatMap((part) => (part ? [part.kind] : []));
  const connector = attempt.settlement.connectorId ?? "";
  deps.observe.attempt({ channel: job.progress.channel, connector, kinds, ms: attempt.ms });
  if (!deps.log.isDebug()) return;
  deps.log.debug(
    {
      message_id: job.messageId,
      connector,
      attempt: job.attempt + 1,
      outcomes: kinds,
      next: attempt.settlement.next.kind,
      ms: Math.round(attempt.ms),
    },
    "attempt",
  );
}
