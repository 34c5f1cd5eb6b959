import type { TimelineEntry } from "../../../core/messages/message.ts";
import { saysHandedTo } from "../../receipts/attempt-entries.ts";
import type { ReceiptState } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";
import type { MessageLog } from "../messages/message-log.ts";

/**
 * Reads the attempts of the locked messages, to tell whether a connector was given one. `ids` come from providers, so they may be
 * anything.
 */
export async function readWasHandedTo(
  session: Session,
  log: MessageLog,
  ids: readonly string[],
): Promise<ReceiptState<never>["wasHandedTo"]> {
  const sms = ids.filter((id) => log.find(id)?.progress.channel === "sms");
  const rows = sms.length === 0 ? [] : await session.query<AttemptRow>(ATTEMPTS, [sms]);
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
