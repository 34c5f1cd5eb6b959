import { setImmediate } from "node:timers/promises";
import { uuidTime } from "../../../core/uuid.ts";
import type { Queue, QueueBacklog } from "../../store.ts";
import type { Database } from "../database/database.ts";
import type { Queues } from "./queues.ts";

/** How many flows of a queue to look at for its oldest job. */
const MAX_FLOWS = 1_000;

/** `Queue.backlog`. Counts one queue after the other, with other work in between, since each may be long. */
export function createBacklog(db: Database, queues: Queues): Queue["backlog"] {
  const count = db.prepare<{ count: number }>(
    "SELECT count(*) AS count FROM (SELECT 1 FROM jobs WHERE due_at IS NULL AND queue = ? LIMIT ?)",
  );
  const oldest = createOldest(db);
  const backlogOf = ({ number, name }: { number: number; name: string }, countTo: number): QueueBacklog => {
    const oldestReadySince = oldest(number);
    return {
      queue: name,
      ready: count.get(number, countTo)?.count ?? 0,
      ...(oldestReadySince !== undefined && { oldestReadySince }),
    };
  };
  return async (countTo) => {
    const found: QueueBacklog[] = [];
    for (const queue of await db.read(queues.all)) {
      found.push(await db.read(() => backlogOf(queue, countTo)));
      await setImmediate();
    }
    return found;
  };
}

/** Since when the oldest of the jobs that are first in line (one in each flow) has been ready. */
function createOldest(db: Database): (queue: number) => number | undefined {
  const first = db.prepare<{ flow: number; message_id: string; ready_since: number | null }>(
    `SELECT flow, message_id, ready_since FROM jobs
     WHERE due_at IS NULL AND queue = ? AND flow > ? ORDER BY flow, deadline, id LIMIT 1`,
  );
  return (queue) => {
    let since: number | undefined;
    let row = first.get(queue, -1);
    for (let flows = 0; row && flows < MAX_FLOWS; flows++) {
      const at = row.ready_since ?? uuidTime(row.message_id) ?? 0;
      since = Math.min(since ?? at, at);
      row = first.get(queue, row.flow);
    }
    return since;
  };
}
