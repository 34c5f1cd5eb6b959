import type { Retention } from "../../store.ts";
import type { Session } from "../database/driver.ts";
import { NIL_UUID } from "../database/nil-uuid.ts";

/** How many batches to examine in one call. Most are still under way, and are skipped until the next round. */
const MAX_EXAMINED = 200;

/** `Retention.wipeContents`: each call goes on where the last one ended. */
export function createWipeContents(session: Session): Retention["wipeContents"] {
  let last = NIL_UUID;
  return async (limit) => {
    const maxExamined = Math.min(limit, MAX_EXAMINED);
    const rows = await session.query<WipeRow>(WIPE, [last, maxExamined]);
    last = rows.length < maxExamined ? NIL_UUID : (rows.at(-1)?.id ?? NIL_UUID);
    return rows.filter((row) => row.is_done).length;
  };
}

interface WipeRow {
  readonly id: string;
  readonly is_done: boolean;
}

/** Wipes the bodies of batches of which no message can be attempted any more. A range of ids limits the messages to a day or two. */
const WIPE = `WITH looked AS (
    SELECT c.id, NOT EXISTS (
      SELECT 1 FROM messages m WHERE m.id >= c.id AND m.id <= c.last_message_id AND m.content = c.id
        AND m.status IN ('scheduled', 'queued', 'sending')) AS is_done
    FROM contents c WHERE c.body IS NOT NULL AND c.messages > 1 AND NOT c.is_kept AND c.id > $1
    ORDER BY c.id LIMIT $2
  ), wiped AS (
    UPDATE contents c SET body = NULL FROM looked WHERE c.id = looked.id AND looked.is_done AND NOT c.is_kept
  )
  SELECT id, is_done FROM looked ORDER BY id`;
