import type { Part } from "../../../core/messages/message.ts";
import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { readSize } from "../../receipts/attempt-entries.ts";
import { namedIn } from "../../receipts/provider-ids.ts";
import type { SizeOf } from "../../receipts/receipt-state.ts";
import type { Transaction } from "../database/transactions.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { LockedMessage, MessageLog } from "../messages/message-log.ts";
import { beginReceipts, type ReceiptSubjects } from "./begin-receipts.ts";

/** What is recorded along with settlements, in their transaction. */
export interface Recording {
  /** Other messages it may change: to be locked together with those of the settlements. */
  readonly messageIds: readonly string[];
  /** To be called once the messages are locked, and the settlements' messages saved. */
  record(log: MessageLog, settled: readonly SettledAttempt[]): Promise<void>;
}

/** A settlement whose message was saved, with the parts before and after. */
export interface SettledAttempt {
  readonly settlement: Settlement;
  /** As it was before the attempt. */
  readonly message: LockedMessage;
  /** Whether its lease was lost. */
  readonly isLost: boolean;
  /** It has settled the message. */
  readonly hasEnded: boolean;
  readonly before: readonly Part[];
  readonly after: readonly Part[];
}

/**
 * Records what settlements bring: ids, parked receipts about these, and suppressions that bounces cause. Takes locks of its own,
 * so it has to be called before jobs and messages are locked.
 */
export async function beginRecording(
  session: Transaction,
  settlements: readonly Settlement[],
  erasedNames: ErasedNames,
): Promise<Recording> {
  const begun = await beginReceipts(session, subjectsOf(settlements), erasedNames);
  return {
    messageIds: begun.messageIds,
    async record(log, settled) {
      const lost = lostOf(settled);
      const { providerIds, suppressions, write } = await begun.open(log, { sizes: sizesOf(settled), lost });
      for (const { settlement, message, before, after } of settled) {
        const { id, recipient, progress } = message;
        suppressions.learnFromParts(message, { before, after, at: settlement.at });
        const lease = lost.has(id) ? "lost" : "held";
        providerIds.recordAttempt(settlement, { id, recipient, channel: progress.channel }, lease);
      }
      await write();
    },
  };
}

function subjectsOf(settlements: readonly Settlement[]): ReceiptSubjects {
  return {
    ids: settlements.flatMap(idsOf),
    references: settlements.flatMap(({ connectorId, messageId, outcomes }) =>
      outcomes.flatMap((outcome, part) =>
        outcome?.kind === "unconfirmed"
          ? [{ connectorId, messageId, reference: partReference(messageId, part) }]
          : [],
      ),
    ),
  };
}

/** The ids by which receipts may name the message: those that the provider gave it and, from the second claim on, ours. */
function idsOf({ connectorId, claim, messageId, outcomes }: Settlement): NonNullable<ReceiptSubjects["ids"]> {
  if (connectorId === undefined) return [];
  const own = claim > 1 ? [{ connectorId, ids: [messageId] }] : [];
  const given = outcomes.flatMap((outcome) => namedIn(outcome)?.providerMessageIds ?? []);
  return given.length > 0 ? [...own, { connectorId, ids: given }] : own;
}

/** Messages that may have another attempt under way, since this one lost its lease; not those whose other attempt is settled here too. */
function lostOf(settled: readonly SettledAttempt[]): ReadonlySet<string> {
  const lost = new Set(settled.flatMap(({ isLost, message }) => (isLost ? [message.id] : [])));
  if (lost.size > 0) for (const { isLost, message } of settled) if (!isLost) lost.delete(message.id);
  return lost;
}

/** Sizes of these attempts, whose timeline entries are not written yet. */
function sizesOf(settled: readonly SettledAttempt[]): ReadonlyMap<string, ReturnType<SizeOf>> {
  return new Map(
    settled.flatMap(({ settlement: { messageId, connectorId, detail } }) =>
      connectorId === undefined ? [] : [[messageId, readSize(detail ?? {})]],
    ),
  );
}
