import type { Settlement } from "../../../core/queue/claimed-job.ts";
import { partReference } from "../../../core/receipts/short-reference.ts";
import { namedIn } from "../../receipts/provider-ids.ts";
import { readSize, type SizeOf } from "../../receipts/receipt-state.ts";
import type { ErasedNames } from "../erasures/erased-names.ts";
import type { ExpireParts } from "../queue/expire.ts";
import type { BeginRecording, SettledAttempt } from "../queue/settle.ts";
import { createSuppressionList } from "../suppressions/suppression-list.ts";
import { beginReceipts, type ReceiptQuestions } from "./begin-receipts.ts";

/** Records with settlements: the ids they bring, parked receipts about these, and suppressions that bounces cause. */
export function createBeginRecording(erasedNames: ErasedNames): BeginRecording {
  return async (session, settlements) => {
    const begun = await beginReceipts(session, questionsOf(settlements), erasedNames);
    return {
      messageIds: begun.messageIds,
      async record(log, settled) {
        const { providerIds, suppressions, write } = await begun.open(log, sizesOf(settled));
        for (const { settlement, message, before, after } of settled) {
          const { id, recipient, progress } = message;
          suppressions.learnFromParts(message, { before, after, at: settlement.at });
          providerIds.recordAttempt(settlement, { id, recipient, channel: progress.channel });
        }
        await write();
      },
    };
  };
}

function questionsOf(settlements: readonly Settlement[]): ReceiptQuestions {
  return {
    ids: settlements.flatMap(({ connectorId, outcomes }) =>
      outcomes.flatMap((outcome) => {
        const ids = namedIn(outcome)?.providerMessageIds;
        return ids && connectorId !== undefined ? [{ connectorId, ids }] : [];
      }),
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

/** Sizes of these attempts, whose timeline entries are not written yet. */
function sizesOf(settled: readonly SettledAttempt[]): ReadonlyMap<string, ReturnType<SizeOf>> {
  return new Map(
    settled.flatMap(({ settlement: { messageId, connectorId, detail } }) =>
      connectorId === undefined ? [] : [[messageId, readSize(detail ?? {})]],
    ),
  );
}

/** Records with expiries: suppressions of recipients that bounced by it, since their server deferred them last. */
export function createRecordEnded(erasedNames: ErasedNames): ExpireParts["recorders"][number] {
  return async (session, ended) => {
    const suppressions = createSuppressionList(session, erasedNames);
    for (const { message, ...step } of ended) suppressions.learnFromParts(message, step);
    await suppressions.write();
  };
}
