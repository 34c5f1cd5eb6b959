import { settles } from "../../../core/messages/progress.ts";
import type { MessageRow } from "../../messages/message-rows.ts";
import { createProviderIds as createRules, type ProviderIds } from "../../receipts/provider-ids.ts";
import type { KnownMessage } from "../../receipts/receipt-state.ts";
import type { Database } from "../database/database.ts";
import { createEndWaiting, type EndingParts } from "../messages/ending.ts";
import { HAS_LEASED_JOB } from "../queue/jobs-of-message.ts";
import type { SuppressionList } from "../suppressions/suppression-list.ts";
import { createKnownIds } from "./known-ids.ts";
import { createParkedReceipts } from "./parked-receipts.ts";
import { createSizeOf } from "./sms-size.ts";
import { createUnconfirmedParts } from "./unconfirmed-parts.ts";
import { createWasHandedTo } from "./was-handed-to.ts";

export interface ProviderIdsParts extends EndingParts {
  readonly suppressions: SuppressionList;
}

/**
 * The rules of `store/receipts/provider-ids.ts` on this engine's tables, inside a transaction. There is only one writer, so of a
 * settlement and a receipt with the same id, the second finds what the first has left.
 */
export function createProviderIds(db: Database, state: ProviderIdsParts): ProviderIds {
  const { messages, suppressions } = state;
  const find = (id: string): FoundMessage | undefined => {
    const found = messages.read(id);
    return found && { id, recipient: found.row.recipient, ...found };
  };
  const endWaiting = createEndWaiting(db, state);
  return createRules<FoundMessage>({
    messages: {
      find,
      save({ row, progress: before }, step) {
        messages.save(row, step);
        if (settles(before, step)) endWaiting(row);
      },
    },
    suppressions: {
      learn: ({ row }, word) => suppressions.learn(row, word),
      forgive: ({ row }, email) => suppressions.forgive(row, email),
    },
    knownIds: createKnownIds(db),
    parked: createParkedReceipts(db),
    unconfirmed: createUnconfirmedParts(db),
    sizeOf: createSizeOf(db, messages),
    wasHandedTo: createWasHandedTo(db, messages),
    isSentAgain: createIsSentAgain(db, state),
  });
}

function createIsSentAgain(db: Database, { accounts }: ProviderIdsParts) {
  const hasLeasedJob = db.prepare(HAS_LEASED_JOB);
  const isHolding = (account: number) => accounts.byNumber(account)?.settings.on_unconfirmed === "hold";
  return ({ id, row }: FoundMessage): boolean =>
    hasLeasedJob.get(id) !== undefined && !isHolding(row.account);
}

interface FoundMessage extends KnownMessage {
  readonly row: MessageRow;
}
