import type { Clock } from "../../../core/clock.ts";
import { createSemaphore } from "../../../core/work/semaphore.ts";
import { StoreUnavailable } from "../../store.ts";
import type { Database } from "./transactions.ts";

/** How many of them run at once, each on one of the process's ten connections, and how long a call waits for its turn. */
const TURNS = { count: 3, waitMs: 10_000 };

/**
 * For transactions that may come by the hundred and wait for one another. Each occupies a connection while it waits, so only
 * three are under way at once, and messages find the others free. A call whose turn does not come in time rejects with `tooMany`.
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
