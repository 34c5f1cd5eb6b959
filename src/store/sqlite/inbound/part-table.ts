import {
  type InboundPartRow,
  MAX_WAITING_PARTS,
  type PartGroup,
  type PartTable,
} from "../../inbound/inbound-parts.ts";
import { createWaitingCount } from "../../inbound/waiting-count.ts";
import type { Database } from "../database/database.ts";

const OF_GROUP = "connector_id = ? AND sender = ? AND recipient = ? AND reference = ? AND total = ?";

/** The rows of `inbound_parts`. */
export function createPartTable(db: Database): PartTable {
  const ofGroup = db.prepare<InboundPartRow>(`SELECT * FROM inbound_parts WHERE ${OF_GROUP} ORDER BY number`);
  const count = db.prepare<{ count: number }>(
    `SELECT count(*) AS count FROM
       (SELECT 1 FROM inbound_parts WHERE message_id IS NULL LIMIT ${MAX_WAITING_PARTS})`,
  );
  const waiting = createWaitingCount();
  const insert = db.prepare(
    `INSERT INTO inbound_parts (connector_id, sender, recipient, reference, total, number, id, provider_key, text,
       encoding, received_at, came_over) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const complete = db.prepare(`UPDATE inbound_parts SET message_id = ? WHERE ${OF_GROUP}`);
  const remove = db.prepare(`DELETE FROM inbound_parts WHERE ${OF_GROUP}`);
  const oldest = db.prepare<InboundPartRow>(
    "SELECT * FROM inbound_parts WHERE received_at < ? ORDER BY received_at LIMIT 1",
  );
  return {
    ofGroup: (group) => ofGroup.all(...valuesOf(group)),
    countWaiting(now) {
      const known = waiting.known(now);
      if (known !== undefined) return known;
      const counted = count.get()?.count ?? 0;
      waiting.counted(now, counted);
      return counted;
    },
    put(group, number, { id, key, text, encoding, receivedAt, connectorId }) {
      waiting.changed(1);
      insert.run(
        ...valuesOf(group),
        number,
        id,
        key,
        JSON.stringify(text),
        encoding,
        receivedAt,
        connectorId,
      );
    },
    complete: (group, messageId) => waiting.changed(-complete.run(messageId, ...valuesOf(group))),
    remove: (group) => void remove.run(...valuesOf(group)),
    oldest: (before) => oldest.get(before),
  };
}

/** In the order of `OF_GROUP`. */
function valuesOf({ connectorId, from, to, reference, total }: PartGroup) {
  return [connectorId, from, to, reference, total] as const;
}
