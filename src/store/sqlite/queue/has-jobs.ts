import { setImmediate } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import type { Queues } from "./queues.ts";

/** How many jobs are looked at in one piece, with other work between the pieces: a million may wait in other queues. */
const PIECE = 10_000;

/** Whether the queue has a job, even one that waits for its time or is being sent; no index finds those. */
export function createHasJobs(
  db: Database,
  queues: Pick<Queues, "numberOf">,
): (queue: string) => Promise<boolean> {
  const look = db.prepare<{ last: number | null; found: number }>(
    `SELECT max(id) AS last, sum(queue = ?) AS found
     FROM (SELECT id, queue FROM jobs WHERE id > ? ORDER BY id LIMIT ${PIECE})`,
  );
  return async (queue) => {
    const number = await db.read(() => queues.numberOf(queue));
    if (number === undefined) return false;
    for (let after = 0; ; await setImmediate()) {
      const piece = await db.read(() => look.get(number, after));
      if (!piece || piece.last === null) return false;
      if (piece.found > 0) return true;
      after = piece.last;
    }
  };
}
