import { countDropped } from "../../inbound/count-dropped.ts";
import type { DroppedInbound } from "../../inbound/inbound.ts";
import type { InboundStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";

/** `InboundStore.dropUnassigned`. Leaves alone the messages that another transaction is deleting. */
export async function dropUnassigned(
  session: Session,
  { most, limit }: Parameters<InboundStore["dropUnassigned"]>[0],
): Promise<readonly DroppedInbound[]> {
  const [newest] = await session.query<{ id: string }>(NEWEST_TO_GO, [most]);
  if (!newest) return [];
  return countDropped(await session.query<{ connector_id: string }>(DROP, [newest.id, limit]));
}

/** The planner uses the index by account only for an order that begins with the account. */
const NEWEST_TO_GO = `SELECT id FROM inbound_messages WHERE account_id IS NULL
  ORDER BY account_id DESC, id DESC OFFSET $1 LIMIT 1`;

/** By a list of ids: a join might select them anew for each message. These messages have no events and no webhooks. */
const DROP = `DELETE FROM inbound_messages WHERE id = ANY(ARRAY(
    SELECT id FROM inbound_messages WHERE account_id IS NULL AND id <= $1
    ORDER BY account_id, id LIMIT $2 FOR UPDATE SKIP LOCKED
  )) RETURNING connector_id`;
