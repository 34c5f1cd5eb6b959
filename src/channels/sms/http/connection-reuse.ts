import type { Clock } from "../../../core/clock.ts";
import { DAY_MS, MINUTE_MS } from "../../../core/time/durations.ts";

/**
 * Whether a connection to the gateway may serve a second request. A gateway may close connections without saying so, after each answer
 * or soon after. Then the next request is in doubt, although the gateway has not read it.
 */
export interface ConnectionReuse {
  isOn(): boolean;
  /** To be called when a connection that had served a request before was closed under another. */
  failed(): void;
}

/**
 * How long each request then gets a connection of its own. That costs it a handshake, so it is short after the restart of a gateway; each
 * further time it is twice as long, until reuse has gone well for a day.
 */
const FIRST_OFF_MS = MINUTE_MS;
const LONGEST_OFF_MS = DAY_MS;

export function createConnectionReuse(clock: Pick<Clock, "monotonicMs">): ConnectionReuse {
  let offMs = FIRST_OFF_MS;
  let offUntilMs = Number.NEGATIVE_INFINITY;
  const isOn = () => clock.monotonicMs() >= offUntilMs;
  return {
    isOn,
    failed() {
      // Requests that were under way together are closed together.
      if (!isOn()) return;
      const now = clock.monotonicMs();
      if (now - offUntilMs > DAY_MS) offMs = FIRST_OFF_MS;
      offUntilMs = now + offMs;
      offMs = Math.min(2 * offMs, LONGEST_OFF_MS);
    },
  };
}
