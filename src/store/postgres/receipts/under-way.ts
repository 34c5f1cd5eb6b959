import type { Receipt } from "../../../core/messages/outcome.ts";
import { saysNotDelivered } from "../../../core/messages/part.ts";
import { mayBeTooEarly } from "../../receipts/provider-ids.ts";
import type { ReceiptState } from "../../receipts/receipt-state.ts";
import type { Session } from "../database/driver.ts";
import type { MessageLog } from "../messages/message-log.ts";
import { findLeased } from "../queue/release.ts";

export interface Received {
  readonly receipts: readonly Receipt[];
  readonly messageIds: readonly string[];
}

/** Reads the leases of those of the locked messages for which a receipt may be too early: nearly always of none. */
export async function readUnderWay(
  session: Session,
  log: MessageLog,
  { receipts, messageIds }: Received,
): Promise<ReceiptState<never>["isUnderWay"]> {
  const bad = receipts.find(saysNotDelivered);
  const sending = messageIds.filter((id) => {
    const message = bad && log.find(id);
    return message && mayBeTooEarly(bad, message.progress);
  });
  const leased = await findLeased(session, sending);
  return (id) => leased.has(id);
}
