import { saysNotDelivered } from "../../../core/messages/copies.ts";
import type { Receipt } from "../../../core/messages/outcome.ts";
import type { ReceiptState } from "../../receipts/receipt-state.ts";
import { mayBeTooEarly } from "../../receipts/too-early.ts";
import type { Session } from "../database/driver.ts";
import type { LockedMessage, MessageLog } from "../messages/message-log.ts";
import { findLeased } from "../queue/release.ts";
import { readSettings } from "../records/account-settings.ts";

export interface Received {
  readonly receipts: readonly Receipt[];
  readonly messageIds: readonly string[];
  /** Ids of messages that a late answer is about: it is recorded before the receipts, and adds an entry to the timeline. */
  readonly answered: readonly string[];
}

/**
 * Reads what tells whether a message is being sent again: the leases of the locked messages for which a receipt may be too early
 * (nearly always of none), and the settings of their accounts.
 */
export async function readSentAgain(
  session: Session,
  log: MessageLog,
  { receipts, messageIds, answered }: Received,
): Promise<ReceiptState<LockedMessage>["isSentAgain"]> {
  const bad = receipts.find(saysNotDelivered);
  const sending = messageIds.flatMap((id) => {
    const message = bad && log.find(id);
    if (!message) return [];
    return answered.includes(id) || mayBeTooEarly(bad, message.progress) ? [message] : [];
  });
  const leased = await findLeased(
    session,
    sending.map(({ id }) => id),
  );
  const again = sending.filter(({ id }) => leased.has(id));
  const settings = await readSettings(
    session,
    again.map(({ accountId }) => accountId),
  );
  const isHolding = ({ accountId }: LockedMessage) => settings(accountId).on_unconfirmed === "hold";
  return (message) => leased.has(message.id) && !isHolding(message);
}
