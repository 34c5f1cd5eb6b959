import type { UpkeepStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";

/** Batches looked at in one call: most are still under way, and are passed over until the next round. */
const MAX_LOOKED_AT = 200;

const START = "00000000-0000-0000-0000-000000000000";

/** `UpkeepStore.wipeContents`: each call goes on where the last one ended, round and round. */
export function createWipeContents(session: Session): UpkeepStore["wipeContents"] {
  let last = START;
  return async (limit) => {
    const looks = Math.min(limit, MAX_LOOKED_AT);
    const rows = await session.query<WipeRow>(WIPE, [last, looks]);
    last = rows.length < looks ? START : (rows.at(-1)?.id ?? START);
    return rows.filter((row) => row.is_done).length;
  };
}

interface WipeRow {
  readonly id: string;
  readonly is_done: boolean;
}

/** Bodies of batches none of whose messages can be attempted any more. A range of ids limits these to a day or two. */
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
