import { isSettled } from "../../../core/messages/progress.ts";
import { readSize } from "../../receipts/attempt-entries.ts";
import type { SizeOf } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";
import type { MessageLog } from "../messages/message-log.ts";

export interface WantedSizes {
  readonly ids: readonly string[];
  /** The sizes that are known already, by message id. */
  readonly sizes: ReadonlyMap<string, ReturnType<SizeOf>>;
}

/** Reads the sizes of those locked messages that a receipt may be the first to report as sent. */
export async function readSizes(
  session: Session,
  log: MessageLog,
  { ids, sizes }: WantedSizes,
): Promise<SizeOf> {
  const open = ids.filter((id) => {
    const progress = log.find(id)?.progress;
    return progress?.channel === "sms" && !isSettled(progress) && !sizes.has(id);
  });
  const rows = open.length === 0 ? [] : await session.query<SizeRow>(LAST, [open]);
  const read = new Map(rows.map((row) => [row.id, readSize(JSON.parse(row.detail ?? "{}"))]));
  return (id) => sizes.get(id) ?? read.get(id) ?? {};
}

interface SizeRow {
  readonly id: string;
  readonly detail: string | null;
}

const LAST = `SELECT m.id, last.detail FROM unnest($1::uuid[]) AS m (id), LATERAL (
    SELECT t.detail FROM timeline t WHERE t.message_id = m.id AND t.kind IN ('attempt', 'lost_settle')
    ORDER BY t.position DESC LIMIT 1
  ) AS last`;
