import { setImmediate } from "node:timers/promises";
import type { Database } from "../database/database.ts";
import type { Queues } from "./queues.ts";

/** Jobs that are looked at in one go, with others' work in between: a million may wait for other queues. */
const PIECE = 10_000;

/** Whether a job of the queue waits for its time. No index tells. */
export function createHasWaiting(
  db: Database,
  queues: Pick<Queues, "numberOf">,
): (queue: string) => Promise<boolean> {
  const look = db.prepare<{ last: number | null; found: number }>(
    `SELECT max(id) AS last, sum(queue = ? AND due_at IS NOT NULL) AS found
     FROM (SELECT id, queue, due_at FROM jobs WHERE id > ? ORDER BY id LIMIT ${PIECE})`,
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
