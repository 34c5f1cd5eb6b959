/**
 * What every store owes: one test per guarantee of `store.ts`. Each engine's own test calls `storeContract` with
 * a way to open an empty database.
 */
import { describe } from "bun:test";
import { acceptContract, deferralContract } from "./contract/accept.contract.ts";
import { accountRulesContract } from "./contract/account-rules.contract.ts";
import { addressSpellingContract } from "./contract/address-spellings.contract.ts";
import { backlogContract } from "./contract/backlog.contract.ts";
import { cancelContract } from "./contract/cancel.contract.ts";
import { claimContract } from "./contract/claim.contract.ts";
import { copiesContract } from "./contract/copies.contract.ts";
import { copiesInAnyOrderContract } from "./contract/copies-in-any-order.contract.ts";
import { copyTakenMeanwhileContract } from "./contract/copy-taken-meanwhile.contract.ts";
import { copyUnderWayContract } from "./contract/copy-under-way.contract.ts";
import { damagedRowContract } from "./contract/damaged-row.contract.ts";
import { damagedUpkeepContract } from "./contract/damaged-upkeep.contract.ts";
import { endedByReceiptContract } from "./contract/ended-by-receipt.contract.ts";
import { erasedLeftoverContract } from "./contract/erased-leftovers.contract.ts";
import { erasedSuppressionContract } from "./contract/erased-suppressions.contract.ts";
import { erasedWordsContract } from "./contract/erased-words.contract.ts";
import { erasureContract } from "./contract/erasure.contract.ts";
import { erasureBoundContract } from "./contract/erasure-bound.contract.ts";
import { erasureStretchContract } from "./contract/erasure-stretches.contract.ts";
import { eventFeedContract } from "./contract/event-feed.contract.ts";
import { idempotencyContract } from "./contract/idempotency.contract.ts";
import { inboundContract } from "./contract/inbound.contract.ts";
import { inboundEventContract } from "./contract/inbound-events.contract.ts";
import { inboundPartsContract } from "./contract/inbound-parts.contract.ts";
import { largeBodyContract } from "./contract/large-body.contract.ts";
import { lateAnswerContract } from "./contract/late-answer.contract.ts";
import { lateRefusalContract } from "./contract/late-refusal.contract.ts";
import { lateReleaseContract } from "./contract/late-release.contract.ts";
import { leasesContract } from "./contract/leases.contract.ts";
import { limitsContract, limitsPruneContract } from "./contract/limits.contract.ts";
import { lostMessageContract } from "./contract/lost-message.contract.ts";
import { lostSettleContract } from "./contract/lost-settle.contract.ts";
import { mailPolicyContract } from "./contract/mail-policies.contract.ts";
import { messageListContract } from "./contract/message-list.contract.ts";
import { moveContract } from "./contract/move.contract.ts";
import { optOutContract } from "./contract/opt-out.contract.ts";
import { outboxContract } from "./contract/outbox.contract.ts";
import { outboxOrderContract } from "./contract/outbox-order.contract.ts";
import { outboxReplayContract } from "./contract/outbox-replay.contract.ts";
import { overdueContract } from "./contract/overdue.contract.ts";
import { overdueCopiesContract } from "./contract/overdue-copies.contract.ts";
import { ownIdContract } from "./contract/own-id.contract.ts";
import { ownIdUnderWayContract } from "./contract/own-id-under-way.contract.ts";
import { parkedBoundContract } from "./contract/parked-bound.contract.ts";
import { pruneContract } from "./contract/prune.contract.ts";
import { pushContract } from "./contract/push.contract.ts";
import { receiptContract } from "./contract/receipt.contract.ts";
import { receiptMatchContract } from "./contract/receipt-match.contract.ts";
import { receiptOrderContract } from "./contract/receipt-order.contract.ts";
import { receiptOtherIdContract } from "./contract/receipt-other-id.contract.ts";
import { receiptReferenceContract } from "./contract/receipt-reference.contract.ts";
import { recordChangesContract } from "./contract/record-changes.contract.ts";
import { recordSearchContract } from "./contract/record-search.contract.ts";
import { recordsContract, recordsInUseContract } from "./contract/records.contract.ts";
import { sandboxContract } from "./contract/sandbox.contract.ts";
import { segmentsUnderWayContract } from "./contract/segments-under-way.contract.ts";
import { settingsContract } from "./contract/settings.contract.ts";
import { settleContract } from "./contract/settle.contract.ts";
import { settleClaimsContract } from "./contract/settle-claims.contract.ts";
import { stageContract } from "./contract/stage.contract.ts";
import { suppressionContract } from "./contract/suppressions.contract.ts";
import { unassignedBoundContract } from "./contract/unassigned-bound.contract.ts";
import { waitingPartsContract } from "./contract/waiting-parts.contract.ts";
import type { OpenStore } from "./contract/world.contract.ts";

/** A section for each thing a store does. */
const SECTIONS = {
  accept: acceptContract,
  damagedRow: damagedRowContract,
  damagedUpkeep: damagedUpkeepContract,
  deferral: deferralContract,
  idempotency: idempotencyContract,
  claim: claimContract,
  move: moveContract,
  settle: settleContract,
  settleClaims: settleClaimsContract,
  lostMessage: lostMessageContract,
  lostSettle: lostSettleContract,
  receipt: receiptContract,
  receiptMatch: receiptMatchContract,
  receiptReference: receiptReferenceContract,
  receiptOtherId: receiptOtherIdContract,
  receiptOrder: receiptOrderContract,
  ownId: ownIdContract,
  ownIdUnderWay: ownIdUnderWayContract,
  copies: copiesContract,
  copiesInAnyOrder: copiesInAnyOrderContract,
  copyUnderWay: copyUnderWayContract,
  copyTakenMeanwhile: copyTakenMeanwhileContract,
  segmentsUnderWay: segmentsUnderWayContract,
  endedByReceipt: endedByReceiptContract,
  largeBody: largeBodyContract,
  lateAnswer: lateAnswerContract,
  lateRefusal: lateRefusalContract,
  lateRelease: lateReleaseContract,
  parkedBound: parkedBoundContract,
  overdue: overdueContract,
  overdueCopies: overdueCopiesContract,
  stage: stageContract,
  backlog: backlogContract,
  outbox: outboxContract,
  outboxOrder: outboxOrderContract,
  outboxReplay: outboxReplayContract,
  prune: pruneContract,
  push: pushContract,
  records: recordsContract,
  recordChanges: recordChangesContract,
  recordSearch: recordSearchContract,
  accountRules: accountRulesContract,
  recordsInUse: recordsInUseContract,
  settings: settingsContract,
  inbound: inboundContract,
  inboundParts: inboundPartsContract,
  waitingParts: waitingPartsContract,
  inboundEvents: inboundEventContract,
  unassignedBound: unassignedBoundContract,
  optOut: optOutContract,
  limits: limitsContract,
  limitsPrune: limitsPruneContract,
  sandbox: sandboxContract,
  suppression: suppressionContract,
  addressSpelling: addressSpellingContract,
  mailPolicy: mailPolicyContract,
  eventFeed: eventFeedContract,
  cancel: cancelContract,
  messageList: messageListContract,
  erasure: erasureContract,
  erasedWords: erasedWordsContract,
  erasureBound: erasureBoundContract,
  erasureStretch: erasureStretchContract,
  leases: leasesContract,
  erasedLeftover: erasedLeftoverContract,
  erasedSuppression: erasedSuppressionContract,
} as const;

export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    for (const section of Object.values(SECTIONS)) section(open);
  });
}
