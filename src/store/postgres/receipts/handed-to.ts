import type { TimelineEntry } from "../../../core/messages/message.ts";
import { isSettled } from "../../../core/messages/progress.ts";
import { type ReceiptState, saysHandedTo } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";
import type { MessageLog } from "../messages/message-log.ts";

/** Reads the attempts at those of the locked messages that are settled. `ids`: as providers say them. */
export async function readHandedTo(
  session: Session,
  log: MessageLog,
  ids: readonly string[],
): Promise<ReceiptState<never>["wasHandedTo"]> {
  const settled = ids.filter((id) => {
    const progress = log.find(id)?.progress;
    return progress?.channel === "sms" && isSettled(progress);
  });
  const rows = settled.length === 0 ? [] : await session.query<AttemptRow>(ATTEMPTS, [settled]);
  const byMessage = Map.groupBy(rows, ({ message_id }) => message_id);
  return (messageId, connectorId) =>
    (byMessage.get(messageId) ?? []).some(({ kind, detail }) =>
      saysHandedTo({ kind, detail: JSON.parse(detail ?? "{}") }, connectorId),
    );
}

interface AttemptRow {
  readonly message_id: string;
  readonly kind: TimelineEntry["kind"];
  readonly detail: string | null;
}

const ATTEMPTS = `SELECT t.message_id, t.kind, t.detail FROM unnest($1::uuid[]) AS m (id), LATERAL (
    SELECT * FROM timeline t
    WHERE t.message_id = m.id AND t.kind IN ('attempt', 'lost_settle', 'interrupted') OFFSET 0
  ) AS t`;
