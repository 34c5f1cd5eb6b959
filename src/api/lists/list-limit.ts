import type { Clock } from "../../core/clock.ts";
import { createSemaphore } from "../../core/work/semaphore.ts";
import { serviceUnavailable } from "../errors.ts";
import type { MaybePromise } from "../when-ready.ts";

/** The most lists that are read at the same time. A page takes milliseconds, so hundreds at once would delay all other requests. */
const MAX_READS = 8;

/** A list that is still waiting after this is refused: while the database does not answer, no read ends. */
const WAIT_MS = 5_000;

export interface ListLimit {
  /**
   * Runs `read` when it is its turn, and refuses it if that takes too long. The next read may begin in the turn of the event
   * loop after the answer. Accounts take turns, and operators with them: else one account that asks for hundreds of lists at a time would
   * have everybody else's refused.
   *
   * @param accountId whose list it is; `undefined`: an operator's
   */
  run<T>(accountId: string | undefined, read: () => MaybePromise<T>): Promise<T>;
}

export function createListLimit(clock: Pick<Clock, "after">): ListLimit {
  const semaphore = createSemaphore(clock, { count: MAX_READS, waitMs: WAIT_MS });
  return {
    async run(accountId, read) {
      const release = await semaphore.acquire(accountId);
      if (!release) throw serviceUnavailable();
      try {
        return await read();
      } finally {
        setImmediate(release);
      }
    },
  };
}
