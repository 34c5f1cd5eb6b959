import type { Clock } from "../../../core/clock.ts";
import { createSemaphore } from "../../../core/work/semaphore.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Database } from "./transactions.ts";

/** Connections, of the ten that a process has. */
const TURNS = { count: 3, waitMs: 10_000 };

/**
 * Transactions that may come by the hundred and wait for one another: as many as waited would leave no connection for
 * messages, so only three are under way at once. Those whose turn does not come in time reject with `tooMany`.
 */
export function inTurns(db: Database, clock: Pick<Clock, "after">, tooMany: string): Database["transaction"] {
  const turns = createSemaphore(clock, TURNS);
  return async (work, isStored) => {
    const release = await turns.acquire();
    if (!release) throw new StoreUnavailable(tooMany);
    try {
      return await db.transaction(work, isStored);
    } finally {
      release();
    }
  };
}
