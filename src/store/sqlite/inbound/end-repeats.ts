import { firstUuidAt, LAST_UUID } from "../../../core/uuid.ts";
import { inPieces, PIECE } from "../../inbound/end-in-pieces.ts";
import { KEY_OF_NO_REPEATS } from "../../inbound/inbound-parts.ts";
import type { InboundStore } from "../../store.ts";
import type { Database } from "../database/database.ts";

/** `InboundStore.endRepeats`. */
export function createEndRepeats(db: Database): InboundStore["endRepeats"] {
  const nextId = db.prepare<{ id: string }>(
    "SELECT id FROM inbound_messages WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?",
  );
  const end = db.prepare(END_REPEATS);
  const nextTime = db.prepare<{ received_at: number }>(
    "SELECT received_at FROM inbound_parts WHERE received_at > ? AND received_at <= ? ORDER BY received_at LIMIT 1 OFFSET ?",
  );
  const endParts = db.prepare(END_REPEATS_OF_PARTS);
  return async ({ connectorId, since, until }) => {
    await inPieces(firstUuidAt(since), (from) =>
      db.write(() => {
        const next = nextId.get(from, PIECE)?.id;
        end.run(from, next ?? LAST_UUID, connectorId, until);
        return next;
      }, PIECE),
    );
    await inPieces(since, (from) =>
      db.write(() => {
        const next = nextTime.get(from, until, PIECE)?.received_at;
        endParts.run(KEY_OF_NO_REPEATS, from, next ?? until + 1, connectorId);
        return next;
      }, PIECE),
    );
  };
}

/** `+` keeps the planner from the index that begins with the connector, in which it would read all seven days. */
const END_REPEATS = `UPDATE inbound_messages SET provider_key = id
  WHERE id >= ? AND id < ? AND +connector_id = ? AND received_at <= ?`;

const END_REPEATS_OF_PARTS = `UPDATE inbound_parts SET provider_key = ?
  WHERE received_at >= ? AND received_at < ? AND coalesce(came_over, connector_id) = ? AND message_id IS NOT NULL`;
