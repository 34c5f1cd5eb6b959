import { type Clock, sleep } from "../core/clock.ts";
import { StoreUnavailable } from "../store/store.ts";

/** Between tries while the database is away. */
export const STORE_RETRY_MS = 250;

/**
 * Tries until the database is back, or until `signal` aborts: a full disk must not lose a provider's answer, and a job that
 * was not sent must not wait until its lease ends, since it would then count as interrupted.
 */
export async function untilStored<T>(
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
  write: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal.aborted) throw error;
      await sleep(clock, STORE_RETRY_MS, signal);
    }
  }
}
