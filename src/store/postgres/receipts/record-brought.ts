import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { readSize, type SizeOf } from "../../receipts/receipt-books.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { ExpireParts } from "../queue/expire.ts";
import type { BeginRecording, Brought } from "../queue/settle.ts";
import { createSuppressionBook } from "../suppressions/suppression-book.ts";
import { beginReceipts, type ReceiptQuestions } from "./begin-receipts.ts";

/** With settlements: the ids they brought home, the receipts that came before them, and whom to write to no more. */
export function createBeginRecording(erasedNames: ErasedNames): BeginRecording {
  return async (session, settlements) => {
    const begun = await beginReceipts(session, questionsOf(settlements), erasedNames);
    return {
      messageIds: begun.messageIds,
      async record(log, brought) {
        const { providerIds, suppressions, write } = await begun.open(log, sizesOf(brought));
        for (const { settlement, message, before, after } of brought) {
          const { id, recipient, progress } = message;
          suppressions.learnFromParts(message, { before, after, at: settlement.at });
          providerIds.claimAll(settlement, { id, recipient, channel: progress.channel });
        }
        await write();
      },
    };
  };
}

function questionsOf(settlements: readonly Settlement[]): ReceiptQuestions {
  return {
    ids: settlements.flatMap(({ connectorId, outcomes }) =>
      outcomes.flatMap((outcome) =>
        outcome?.kind === "sent" && connectorId !== undefined
          ? [{ connectorId, ids: outcome.providerMessageIds }]
          : [],
      ),
    ),
    references: settlements.flatMap(({ connectorId, messageId, outcomes }) =>
      outcomes.flatMap((outcome, part) =>
        outcome?.kind === "unconfirmed"
          ? [{ connectorId, messageId, reference: partReference(messageId, part) }]
          : [],
      ),
    ),
  };
}

/** These attempts' entries are not written yet. */
function sizesOf(brought: readonly Brought[]): ReadonlyMap<string, ReturnType<SizeOf>> {
  return new Map(
    brought.flatMap(({ settlement: { messageId, connectorId, detail } }) =>
      connectorId === undefined ? [] : [[messageId, readSize(detail ?? {})]],
    ),
  );
}

/** With what ends because its window is over: whose server had the last word, and bounced. */
export function createRecordEnded(erasedNames: ErasedNames): ExpireParts["recorders"][number] {
  return async (session, ended) => {
    const suppressions = createSuppressionBook(session, erasedNames);
    for (const { message, ...step } of ended) suppressions.learnFromParts(message, step);
    await suppressions.write();
  };
}
