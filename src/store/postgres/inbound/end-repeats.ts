import { firstUuidAt, LAST_UUID } from "../../../core/uuid.ts";
import { inPieces, PIECE } from "../../inbound/end-in-pieces.ts";
import { KEY_OF_NO_REPEATS } from "../../inbound/inbound-parts.ts";
import type { InboundStore } from "../../store.ts";
import type { Session } from "../database/driver.ts";

/** `InboundStore.endRepeats`. */
export async function endRepeats(
  session: Session,
  { connectorId, since, until }: Parameters<InboundStore["endRepeats"]>[0],
): Promise<void> {
  await inPieces(firstUuidAt(since), async (from) => {
    const [next] = await session.query<{ id: string }>(NEXT_ID, [from, PIECE]);
    await session.query(END, [from, next?.id ?? LAST_UUID, connectorId, until]);
    return next?.id;
  });
  await inPieces(since, async (from) => {
    const [next] = await session.query<{ received_at: number }>(NEXT_TIME, [from, until, PIECE]);
    await session.query(END_PARTS, [KEY_OF_NO_REPEATS, from, next?.received_at ?? until + 1, connectorId]);
    return next?.received_at;
  });
}

const NEXT_ID = "SELECT id FROM inbound_messages WHERE id >= $1 ORDER BY id LIMIT 1 OFFSET $2";

const END = `UPDATE inbound_messages SET provider_key = id::text
  WHERE id >= $1 AND id < $2 AND connector_id = $3 AND received_at <= $4`;

const NEXT_TIME = `SELECT received_at FROM inbound_parts WHERE received_at > $1 AND received_at <= $2
  ORDER BY received_at LIMIT 1 OFFSET $3`;

const END_PARTS = `UPDATE inbound_parts SET provider_key = $1
  WHERE received_at >= $2 AND received_at < $3 AND coalesce(came_over, connector_id) = $4 AND message_id IS NOT NULL`;
