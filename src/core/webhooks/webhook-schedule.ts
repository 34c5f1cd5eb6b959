/** When a webhook whose delivery failed is tried again. */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../time/durations.ts";
import { LONGEST_RETRY_AFTER_MS } from "../time/retry-after.ts";

/** The wait after the first failure, the second, and so on. After one more failure the event stays failed. */
const WAITS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  24 * HOUR_MS,
] as const;

export interface WebhookFailure {
  /** Failed deliveries of the event, this one included: 1 or more. */
  readonly failures: number;
  /** Unix milliseconds. */
  readonly now: number;
  /** In [0, 1): spreads retries, so that events that failed together are not all tried again together. */
  readonly jitter: number;
  /** The wait that the receiver asked for. The event is not tried earlier. */
  readonly retryAfterMs?: number;
}

/** When to deliver next, Unix milliseconds; `undefined` if all attempts are spent. Each wait varies by ±10 %. */
export function nextDeliveryAt(failure: WebhookFailure): number | undefined {
  const { failures, now, jitter, retryAfterMs = 0 } = failure;
  const own = WAITS_MS[Math.max(1, failures) - 1];
  if (own === undefined) return undefined;
  const wished = Math.min(retryAfterMs * (1 + 0.1 * jitter), LONGEST_RETRY_AFTER_MS);
  return Math.round(now + Math.max(own * (0.9 + 0.2 * jitter), wished));
}
