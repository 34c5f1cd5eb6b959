import { countDropped } from "../../inbound/count-dropped.ts";
import type { InboundStore } from "../../store.ts";
import type { Database } from "../database/database.ts";

/** `InboundStore.dropUnassigned`. Looks first, in a read: there are hardly ever too many. */
export function createDropUnassigned(db: Database): InboundStore["dropUnassigned"] {
  const newestToGo = db.prepare<{ id: string }>(
    "SELECT id FROM inbound_messages WHERE account_id IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?",
  );
  const remove = db.prepare<{ connector_id: string }>(
    `DELETE FROM inbound_messages WHERE id IN
       (SELECT id FROM inbound_messages WHERE account_id IS NULL AND id <= ? ORDER BY id LIMIT ?)
     RETURNING connector_id`,
  );
  return async ({ most, limit }) => {
    const newest = await db.read(() => newestToGo.get(most));
    if (!newest) return [];
    return countDropped(await db.write(() => remove.all(newest.id, limit), limit));
  };
}
