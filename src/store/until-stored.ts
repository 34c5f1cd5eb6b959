import { type Clock, sleep } from "../core/clock.ts";
import { isOutage } from "./outage.ts";

/** The wait between tries while the database is away. */
export const STORE_RETRY_MS = 250;

/** The longest wait between tries of a write that fails by itself: it doubles from `STORE_RETRY_MS` on. */
const LONGEST_WAIT_MS = 60_000;

export interface UntilStoredOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once, before the first wait. */
  readonly onWait?: () => void;
  /**
   * Called once, when the write fails though the database is there, as on a row that is damaged. Returns whether to go on trying;
   * absent: no.
   */
  readonly onFault?: (error: unknown) => boolean;
}

/**
 * Repeats `write` while the database is away: a message must not be sent again because its result was lost, and a claimed one
 * that was not sent must not wait until its lease ends. Rejects if `signal` aborts meanwhile, or if the store fails in another
 * way and `onFault` does not want to go on.
 */
export async function untilStored<T>(
  { clock, signal, onWait, onFault }: UntilStoredOptions,
  write: () => Promise<T>,
): Promise<T> {
  let faults = 0;
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted) throw error;
      if (!isOutage(error) && faults++ === 0 && !onFault?.(error)) throw error;
      if (tries === 1) onWait?.();
      await sleep(clock, waitMs(faults), signal);
    }
  }
}

function waitMs(faults: number): number {
  return Math.min(STORE_RETRY_MS * 2 ** faults, LONGEST_WAIT_MS);
}
