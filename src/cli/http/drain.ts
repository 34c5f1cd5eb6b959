import type { Clock } from "../../core/clock.ts";

/**
 * How long a process that stops still takes connections and answers requests. A proxy with several processes behind it learns of the
 * stop by `/readyz` or from an answer that closes its connection, and those that it had sent by then are answered as ever.
 */
export const LINGER_MS = 300;

/** The two steps in which a process stops answering requests. */
export interface Drain {
  begin(): void;
  /** From the beginning on. See `HandlerDeps`. */
  isLeaving(): boolean;
  /** Once the time to linger is over. See `HandlerDeps`. */
  isDraining(): boolean;
}

export function createDrain({ monotonicMs }: Pick<Clock, "monotonicMs">): Drain {
  let endsMs = Number.POSITIVE_INFINITY;
  return {
    begin() {
      endsMs = monotonicMs() + LINGER_MS;
    },
    isLeaving: () => endsMs !== Number.POSITIVE_INFINITY,
    isDraining: () => monotonicMs() >= endsMs,
  };
}
