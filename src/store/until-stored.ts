import { type Clock, sleep } from "../core/clock.ts";
import { StoreUnavailable } from "./outage.ts";

/** The wait between tries while the database is away. */
export const STORE_RETRY_MS = 250;

export interface UntilStoredOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called once, before the first wait. */
  readonly onWait?: () => void;
}

/**
 * Repeats `write` while the database is away: a message must not be sent again because its result was lost, and a claimed one
 * that was not sent must not wait until its lease ends. Rejects if `signal` aborts meanwhile, or if the store fails in another
 * way.
 */
export async function untilStored<T>(
  { clock, signal, onWait }: UntilStoredOptions,
  write: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
      if (tries === 1) onWait?.();
      await sleep(clock, STORE_RETRY_MS, signal);
    }
  }
}
