import type { Clock } from "../../core/clock.ts";

/**
 * How long a process that stops still takes connections. A proxy with several processes behind it learns of the stop by `/readyz`
 * or from an answer that closes its connection, and the requests that it has sent by then are answered as ever.
 */
export const LINGER_MS = 300;

/**
 * After how long the process refuses requests. By then the connections that were in use have been closed; a request that comes on
 * one of them after the lingering, or in its last moment on a busy process, is rather answered than refused.
 */
export const REFUSES_AFTER_MS = 1_000;

/** The two steps in which a process stops answering requests. */
export interface Drain {
  begin(): void;
  /** From the beginning on. See `HandlerDeps`. */
  isLeaving(): boolean;
  /** `REFUSES_AFTER_MS` later. See `HandlerDeps`. */
  isDraining(): boolean;
}

export function createDrain({ monotonicMs }: Pick<Clock, "monotonicMs">): Drain {
  let refusesFromMs = Number.POSITIVE_INFINITY;
  return {
    begin() {
      refusesFromMs = monotonicMs() + REFUSES_AFTER_MS;
    },
    isLeaving: () => refusesFromMs !== Number.POSITIVE_INFINITY,
    isDraining: () => monotonicMs() >= refusesFromMs,
  };
}
