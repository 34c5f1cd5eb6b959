/**
 * What every store owes: one test per guarantee of `store.ts`. Each engine's own test calls `storeContract` with
 * a way to open an empty database.
 */
import { describe } from "bun:test";
import { accessContract } from "./contract/access.contract.ts";
import { closeContract } from "./contract/close.contract.ts";
import { damagedRowContract } from "./contract/damaged-row.contract.ts";
import { damagedUpkeepContract } from "./contract/damaged-upkeep.contract.ts";
import { erasedLeftoverContract } from "./contract/erasures/erased-leftovers.contract.ts";
import { erasedSuppressionContract } from "./contract/erasures/erased-suppressions.contract.ts";
import { erasedWordsContract } from "./contract/erasures/erased-words.contract.ts";
import { erasureContract } from "./contract/erasures/erasure.contract.ts";
import { erasureBoundContract } from "./contract/erasures/erasure-bound.contract.ts";
import { erasurePassedOverContract } from "./contract/erasures/erasure-passed-over.contract.ts";
import { erasureStretchContract } from "./contract/erasures/erasure-stretches.contract.ts";
import { eventFeedContract } from "./contract/event-feed.contract.ts";
import { inboundContract } from "./contract/inbound/inbound.contract.ts";
import { inboundEventContract } from "./contract/inbound/inbound-events.contract.ts";
import { inboundPartsContract } from "./contract/inbound/inbound-parts.contract.ts";
import { unassignedBoundContract } from "./contract/inbound/unassigned-bound.contract.ts";
import { waitingPartsContract } from "./contract/inbound/waiting-parts.contract.ts";
import { acceptContract } from "./contract/intake/accept.contract.ts";
import { idempotencyContract } from "./contract/intake/idempotency.contract.ts";
import { limitsContract } from "./contract/intake/limits.contract.ts";
import { mailPolicyContract } from "./contract/mail-policies.contract.ts";
import { cancelContract } from "./contract/messages/cancel.contract.ts";
import { largeBodyContract } from "./contract/messages/large-body.contract.ts";
import { messageListContract } from "./contract/messages/message-list.contract.ts";
import { pruneContract } from "./contract/prune.contract.ts";
import { pushContract } from "./contract/push.contract.ts";
import { backlogContract } from "./contract/queue/backlog.contract.ts";
import { claimContract } from "./contract/queue/claim.contract.ts";
import { lateReleaseContract } from "./contract/queue/late-release.contract.ts";
import { leasesContract } from "./contract/queue/leases.contract.ts";
import { lostMessageContract } from "./contract/queue/lost-message.contract.ts";
import { lostSettleContract } from "./contract/queue/lost-settle.contract.ts";
import { moveContract } from "./contract/queue/move.contract.ts";
import { settleContract } from "./contract/queue/settle.contract.ts";
import { settleClaimsContract } from "./contract/queue/settle-claims.contract.ts";
import { stageContract } from "./contract/queue/stage.contract.ts";
import { copiesContract } from "./contract/receipts/copies.contract.ts";
import { copiesInAnyOrderContract } from "./contract/receipts/copies-in-any-order.contract.ts";
import { copyTakenMeanwhileContract } from "./contract/receipts/copy-taken-meanwhile.contract.ts";
import { copyUnderWayContract } from "./contract/receipts/copy-under-way.contract.ts";
import { endedByReceiptContract } from "./contract/receipts/ended-by-receipt.contract.ts";
import { lateAnswerContract } from "./contract/receipts/late-answer.contract.ts";
import { lateRefusalContract } from "./contract/receipts/late-refusal.contract.ts";
import { overdueContract } from "./contract/receipts/overdue.contract.ts";
import { overdueCopiesContract } from "./contract/receipts/overdue-copies.contract.ts";
import { ownIdContract } from "./contract/receipts/own-id.contract.ts";
import { ownIdTakenMeanwhileContract } from "./contract/receipts/own-id-taken-meanwhile.contract.ts";
import { ownIdUnderWayContract } from "./contract/receipts/own-id-under-way.contract.ts";
import { parkedContract } from "./contract/receipts/parked.contract.ts";
import { receiptContract } from "./contract/receipts/receipt.contract.ts";
import { receiptMatchContract } from "./contract/receipts/receipt-match.contract.ts";
import { receiptOrderContract } from "./contract/receipts/receipt-order.contract.ts";
import { receiptOtherIdContract } from "./contract/receipts/receipt-other-id.contract.ts";
import { receiptReferenceContract } from "./contract/receipts/receipt-reference.contract.ts";
import { segmentsUnderWayContract } from "./contract/receipts/segments-under-way.contract.ts";
import { takenInFewerContract } from "./contract/receipts/taken-in-fewer.contract.ts";
import { accountRulesContract } from "./contract/records/account-rules.contract.ts";
import { recordChangesContract } from "./contract/records/record-changes.contract.ts";
import { recordSearchContract } from "./contract/records/record-search.contract.ts";
import { recordsContract } from "./contract/records/records.contract.ts";
import { settingsContract } from "./contract/records/settings.contract.ts";
import { sandboxContract } from "./contract/sandbox.contract.ts";
import { addressSpellingContract } from "./contract/suppressions/address-spellings.contract.ts";
import { optOutContract } from "./contract/suppressions/opt-out.contract.ts";
import { suppressionContract } from "./contract/suppressions/suppressions.contract.ts";
import { outboxContract } from "./contract/webhooks/outbox.contract.ts";
import { outboxOrderContract } from "./contract/webhooks/outbox-order.contract.ts";
import { outboxReplayContract } from "./contract/webhooks/outbox-replay.contract.ts";
import type { OpenStore } from "./contract/world.contract.ts";
import type { Store } from "./store.ts";

/** Tests of one subject, which is what their names are about. */
type Subjects = Readonly<Record<string, (open: OpenStore) => void>>;

/** By the part of the store that gives the guarantees. */
const PARTS: { readonly [Part in keyof Store]?: Subjects } = {
  intake: {
    "a request": acceptContract,
    "an idempotency key": idempotencyContract,
    "an account with limits": limitsContract,
  },
  messages: {
    "a list of messages": messageListContract,
    "a cancellation": cancelContract,
  },
  queue: {
    "a claim": claimContract,
    "a large text": largeBodyContract,
    "a move to another queue": moveContract,
    "a settlement": settleContract,
    "the claim that proves a lease": settleClaimsContract,
    "an attempt that has lost its lease": lostSettleContract,
    "a release that comes late": lateReleaseContract,
    "a job that has lost its message": lostMessageContract,
    "what waits for its time, or ends with its window": stageContract,
    "the backlog": backlogContract,
  },
  leases: {
    "a slot of a connector": leasesContract,
  },
  receipts: {
    "a receipt": receiptContract,
    "a receipt whose id does not say plainly which message it is about": receiptMatchContract,
    "a receipt for a part that nobody answered for": receiptReferenceContract,
    "a receipt with two ids": receiptOtherIdContract,
    "a receipt by our own id": ownIdContract,
    "that a copy was not delivered, told by our own id while another connector is sending the message,":
      ownIdUnderWayContract,
    "a report by our own id of a copy that was taken under a lost lease, while the message is claimed anew,":
      ownIdTakenMeanwhileContract,
    "answers and receipts in any order": receiptOrderContract,
    "a message that a receipt ends": endedByReceiptContract,
    "copies of an SMS at several connectors": copiesContract,
    "copies that are told of in any order": copiesInAnyOrderContract,
    "a copy that has failed while another is on its way": copyUnderWayContract,
    "a copy that turns out to have been taken, and to have failed, while another is on its way":
      copyTakenMeanwhileContract,
    "segments that are sent again": segmentsUnderWayContract,
    "an SMS that is taken in fewer segments": takenInFewerContract,
    "an answer that comes late": lateAnswerContract,
    "a refusal that comes late": lateRefusalContract,
    "a receipt that matches nothing": parkedContract,
    "a receipt that does not come": overdueContract,
    "a receipt that does not come for either of two copies": overdueCopiesContract,
  },
  outbox: {
    "an event": outboxContract,
    "events of several messages": outboxOrderContract,
    "a replay": outboxReplayContract,
  },
  feed: {
    "the feed of an account": eventFeedContract,
  },
  inbound: {
    "a message from a handset": inboundContract,
    "a long message from a handset": inboundPartsContract,
    "parts that wait for one another": waitingPartsContract,
    "what a message from a handset tells": inboundEventContract,
    "messages of no account": unassignedBoundContract,
  },
  suppressions: {
    "a suppressed address": suppressionContract,
    "the spellings of an address": addressSpellingContract,
    "a number that has opted out": optOutContract,
  },
  erasures: {
    "an erasure": erasureContract,
    "what was said of an erased recipient": erasedWordsContract,
    "what there was before an erasure, where clocks differ": erasureBoundContract,
    "the stretches of an erasure": erasureStretchContract,
    "what an erasure finds beside messages": erasedLeftoverContract,
    "an erased recipient on a list": erasedSuppressionContract,
  },
  retention: {
    "what is old": pruneContract,
  },
  push: {
    "a device": pushContract,
  },
  records: {
    "a record": recordsContract,
    "changes of one record by several": recordChangesContract,
    "a search": recordSearchContract,
    "records of one account": accountRulesContract,
    "settings, and webhook secrets": settingsContract,
  },
  access: {
    "the first start": accessContract,
  },
  mailPolicies: {
    "a mail policy": mailPolicyContract,
  },
  sandbox: {
    "what the simulator was given": sandboxContract,
  },
  close: {
    "a closed store": closeContract,
  },
};

/** Where the database is damaged, or a row on it, whichever part comes upon it. */
const DAMAGE: Subjects = {
  "a row that is damaged": damagedRowContract,
  "an old row that cannot be deleted": damagedUpkeepContract,
  "a row that cannot be erased": erasurePassedOverContract,
};

export function storeContract(name: string, open: OpenStore): void {
  describe(`store contract: ${name}`, () => {
    for (const [part, subjects] of Object.entries({ ...PARTS, damage: DAMAGE }))
      describe(part, () => {
        for (const [subject, contract] of Object.entries(subjects)) describe(subject, () => contract(open));
      });
  });
}
