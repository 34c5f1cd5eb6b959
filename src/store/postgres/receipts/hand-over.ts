import type { PartRef } from "../../../core/messages/outcome.ts";
import type { Session } from "../database/driver.ts";

export interface HandedOver extends PartRef {
  readonly from: string;
  to: string;
  readonly at: number;
}

/** Hands overdue receipts of one connector to another one, who may be asked at once. */
export async function handOver(session: Session, handed: readonly HandedOver[]): Promise<void> {
  if (handed.length === 0) return;
  await session.query(HAND_OVER, [
    handed.map(({ messageId }) => messageId),
    handed.map(({ part }) => part),
    handed.map(({ from }) => from),
    handed.map(({ to }) => to),
    handed.map(({ at }) => at),
  ]);
}

/** `IS TRUE`: the row is found by its message, not by its connector, which may have very many. */
const HAND_OVER = `UPDATE overdue_receipts o SET connector_id = t.connector_id, asked = 0, ask_at = t.ask_at
  FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::bigint[])
    AS t (message_id, part, failed, connector_id, ask_at)
  WHERE o.message_id = ANY(ARRAY[t.message_id]) AND o.part = t.part AND (o.connector_id = t.failed) IS TRUE`;
