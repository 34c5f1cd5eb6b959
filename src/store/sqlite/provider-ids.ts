import type { ReceiptResult, Settlement } from "../../core/claimed-job.ts";
import type { LateAnswer } from "../../core/late-answer.ts";
import type { PartOutcome, PartRef, Receipt } from "../../core/outcome.ts";
import { isOpen } from "../../core/part.ts";
import { partReference } from "../../core/short-reference.ts";
import { type MessageRow, toProgress } from "../message-rows.ts";
import { applyToMatch, applyToTarget, type Books } from "./apply-receipt.ts";
import type { Database } from "./database.ts";
import type { EndingParts } from "./ending.ts";
import { createKnownIds } from "./known-ids.ts";
import { createLateAnswers } from "./late-answers.ts";
import { createMatchReceipt, type Match, type MatchParts } from "./match-receipt.ts";
import { createParkedReceipts, type ParkedReceipts } from "./parked-receipts.ts";
import { createSizeOf } from "./sms-size.ts";
import type { SuppressionBook } from "./suppression-book.ts";
import { createUnconfirmedParts } from "./unconfirmed-parts.ts";

/**
 * Which part of which message a provider's word is about. A settlement looks for the receipts that came before it, and
 * a receipt for the settlement: whichever is second finds the first, since both are transactions of one writer.
 */
export interface ProviderIds {
  /** Records the ids an attempt at the message brought home, and applies the receipts that were parked for it. */
  claimAll(settlement: Settlement, message: MessageRow): void;
  /** Records what came too late for its attempt. */
  answerLate(answer: LateAnswer, at: number): void;
  /** Applies a receipt, or parks it. */
  receive(receipt: Receipt): ReceiptResult;
}

export interface ProviderIdsParts extends EndingParts {
  readonly suppressions: SuppressionBook;
}

export function createProviderIds(db: Database, books: ProviderIdsParts): ProviderIds {
  const parts: Parts = {
    ...books,
    knownIds: createKnownIds(db),
    parked: createParkedReceipts(db),
    unconfirmed: createUnconfirmedParts(db),
    sizeOf: createSizeOf(db),
    applyLateAnswer: createLateAnswers(db, books),
  };
  const { messages } = parts;
  const match = createMatchReceipt(parts);
  const receive = (receipt: Receipt): ReceiptResult => {
    if (receipt.target) return applyToTarget(parts, receipt, receipt.target);
    const found = match(receipt);
    if (found)
      return applyToMatch(parts, receipt, found.by === "reference" ? prove(parts, found, receipt) : found);
    parts.parked.park(receipt);
    return { kind: "parked" };
  };
  const claimIds = createClaimIds(parts, receive);

  return {
    claimAll({ connectorId, outcomes, messageId, at }, message) {
      outcomes.forEach((outcome, part) => {
        if (outcome?.kind === "sent" && connectorId !== undefined)
          claimIds({ messageId, part, connectorId, ...idsOf(outcome, { at, message }) });
        if (outcome?.kind === "unconfirmed" && message.channel === "sms")
          expectReference(parts, { part, connectorId, message }, receive);
      });
    },
    answerLate(answer, at) {
      parts.applyLateAnswer(answer, at);
      const message = messages.find(answer.messageId);
      if (message) claimIds({ ...answer, ...idsOf(answer, { at, message }) });
    },
    receive,
  };
}

interface Parts extends Books, MatchParts {
  readonly parked: ParkedReceipts;
  /** Moves the message; without ids and receipts. */
  readonly applyLateAnswer: (answer: LateAnswer, at: number) => void;
}

function idsOf(
  taken: Pick<Extract<PartOutcome, { kind: "sent" }>, "providerMessageIds" | "expectsReceipt">,
  { at, message }: { readonly at: number; readonly message: MessageRow },
) {
  const isAwaited = message.channel === "sms" && taken.expectsReceipt !== false;
  const { providerMessageIds } = taken;
  return { providerMessageIds, recipient: message.recipient, awaitedSince: isAwaited ? at : undefined };
}

interface Claimed extends PartRef {
  readonly connectorId: string;
  readonly providerMessageIds: readonly string[];
  readonly recipient: string;
  readonly awaitedSince: number | undefined;
}

function createClaimIds({ knownIds, parked }: Parts, receive: (receipt: Receipt) => unknown) {
  return (claimed: Claimed): void => {
    knownIds.note(claimed);
    const { connectorId, providerMessageIds: ids, recipient } = claimed;
    for (const receipt of parked.takeByIds({ connectorId, ids, recipient })) receive(receipt);
  };
}

interface Unanswered {
  readonly part: number;
  readonly connectorId: string | undefined;
  readonly message: MessageRow;
}

/** A receipt may prove by its reference that the part was sent; it may have come before the attempt was given up. */
function expectReference(
  { unconfirmed, parked }: Parts,
  { part, connectorId, message: { id: messageId, recipient } }: Unanswered,
  receive: (receipt: Receipt) => unknown,
): void {
  unconfirmed.note({ messageId, part }, connectorId);
  const reference = partReference(messageId, part);
  for (const receipt of parked.takeByReference({ connectorId, reference, recipient })) receive(receipt);
}

/** The provider speaks of a part by its reference: it has it, and this is its id. */
function prove(parts: Parts, found: Match, receipt: Receipt): Match {
  const { id: messageId } = found.message;
  const { connectorId, providerMessageId, receivedAt } = receipt;
  const before = found.progress.parts;
  const answer = { messageId, part: found.part, connectorId, providerMessageIds: [providerMessageId] };
  const awaitedSince = receipt.status === "sent" ? receivedAt : undefined;
  parts.knownIds.note({ ...answer, awaitedSince });
  const part = before[found.part];
  const detail = { ...parts.sizeOf(messageId) };
  if (part && isOpen(part)) parts.applyLateAnswer({ ...answer, parts: before.length, detail }, receivedAt);
  const message = parts.messages.find(messageId) ?? found.message;
  return { ...found, message, progress: toProgress(message) };
}
