import { OutcomeUnknown, StoreUnavailable } from "../store/store.ts";
import type { HandlerDeps } from "./app-deps.ts";
import { internalError, outcomeUnknown, Refusal, refusalResponse, serviceUnavailable } from "./errors.ts";

/** An outage is logged at most once a second: a line for every request would bury its cause. */
const OUTAGE_LOG_GAP_MS = 1000;

/**
 * The one place where errors of requests become answers: a refusal its own, an outage a 503, and a bug a 500 whose cause is only in
 * the log, under the request id.
 */
export function createErrorHandler({
  log,
  clock,
}: Pick<HandlerDeps, "log" | "clock">): (error: unknown, requestId: string) => Response {
  let outageLoggedAt = -Infinity;

  return (error, requestId) => {
    if (error instanceof Refusal) return refusalResponse(error);
    const fields = { request_id: requestId, error: error instanceof Error ? error.stack : String(error) };
    if (!(error instanceof StoreUnavailable)) {
      log.error(fields, "request failed");
      return refusalResponse(internalError());
    }
    if (clock.monotonicMs() - outageLoggedAt >= OUTAGE_LOG_GAP_MS) {
      outageLoggedAt = clock.monotonicMs();
      log.error(fields, "database unavailable");
    }
    return refusalResponse(error instanceof OutcomeUnknown ? outcomeUnknown() : serviceUnavailable());
  };
}
