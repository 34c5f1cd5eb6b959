import { createOldRowUpkeep } from "../../pass-over.ts";
import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";

/** How many batches to examine in one call. Most are still under way, and are skipped until the next round. */
const MAX_EXAMINED = 200;

/** `Retention.wipeContents`: each call goes on where the last one ended. */
export function createWipeContents(session: Session): Retention["wipeContents"] {
  const upkeep = createOldRowUpkeep<string>((id) => `content ${id}`);
  let last = NIL_UUID;
  return (now, limit) =>
    upkeep({
      limit: Math.min(limit, MAX_EXAMINED),
      now,
      async run(most, waiting, take) {
        const rows = await session.query<ExaminedRow>(EXAMINE, [last, most]);
        const over = rows.flatMap(({ id, is_done: isDone }) => (isDone && !waiting.has(id) ? [id] : []));
        take(over);
        if (over.length > 0) await session.query(WIPE, [over]);
        // Only now, since what was not wiped has to be examined again.
        last = rows.length < most ? NIL_UUID : (rows.at(-1)?.id ?? NIL_UUID);
        return over.length;
      },
    });
}

interface ExaminedRow {
  readonly id: string;
  /** No message can be attempted any more, which stays so. */
  readonly is_done: boolean;
}

/** A range of ids limits the messages to a day or two. */
const EXAMINE = `SELECT c.id, NOT EXISTS (
    SELECT 1 FROM messages m WHERE m.id >= c.id AND m.id <= c.last_message_id AND m.content = c.id
      AND m.status IN ('scheduled', 'queued', 'sending')) AS is_done
  FROM contents c WHERE c.body IS NOT NULL AND c.messages > 1 AND NOT c.is_kept AND c.id > $1
  ORDER BY c.id LIMIT $2`;

const WIPE = `UPDATE contents c SET body = NULL FROM unnest($1::uuid[]) AS over (id)
  WHERE c.id = over.id AND NOT c.is_kept`;
