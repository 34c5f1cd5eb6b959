import { isOfNeitherCopy, isOfOtherCopy, saysNotDelivered } from "../../core/messages/copies.ts";
import { keepEarlyFailure } from "../../core/messages/early-failure.ts";
import type { Part, Progress } from "../../core/messages/message.ts";
import type { PartOutcome, Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import { isOpen } from "../../core/messages/part.ts";
import { isSettled } from "../../core/messages/progress.ts";
import type { Settlement } from "../../core/queue/claimed-job.ts";
import { applyLateAnswer, type LateAnswer } from "../../core/receipts/late-answer.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { partReference } from "../../core/receipts/short-reference.ts";
import { applyToMatch, applyToTarget } from "./apply-receipt.ts";
import { type Match, matchElsewhere, matchReceipt } from "./match-receipt.ts";
import type { KnownMessage, NotedIds, PartIds, ReceiptState } from "./receipt-state.ts";

/**
 * Brings together what providers say of one part: the answer to the attempt, and the receipt. They may be stored in either
 * order, but always one after the other: whichever is second finds what the first has left.
 */
export interface ProviderIds {
  /**
   * Records the ids that the provider gave to the parts of an attempt, and applies receipts that were parked for them.
   * `lost`: the attempt's lease had run out, so that another one may be under way.
   */
  recordAttempt(settlement: Settlement, message: TriedMessage, lease: "held" | "lost"): void;
  /** Records an answer that came after its attempt was settled. */
  answerLate(answer: LateAnswer, at: number): void;
  /** Applies a receipt to the part it is about, or parks it. */
  receive(receipt: Receipt): ReceiptResult;
}

export type TriedMessage = Pick<KnownMessage, "id" | "recipient"> & Pick<Progress, "channel">;

export function createProviderIds<M extends KnownMessage>(state: ReceiptState<M>): ProviderIds {
  const meanwhile = createTakeParked(state);
  // The attempt that they may have waited for is over.
  const after = createTakeParked({ ...state, isSentAgain: () => false });

  return {
    recordAttempt({ connectorId, claim, outcomes, messageId, at }, message, lease) {
      const take = lease === "held" ? after : meanwhile;
      outcomes.forEach((outcome, part) => {
        const named = namedIn(outcome);
        if (named && connectorId !== undefined)
          take.recordIds({ messageId, part, connectorId, ...idsOf(named, { at, message }) });
        if (outcome?.kind === "unconfirmed" && message.channel === "sms")
          expectReference(state, { part, connectorId, message }, take.receive);
      });
      // Those by our id that came too early: none did before a job's second attempt.
      if (connectorId === undefined || claim < 2 || message.channel !== "sms") return;
      const about = { connectorId, messageId, ids: [messageId], recipient: message.recipient, at };
      for (const receipt of state.parked.takeByIds(about)) take.receiveOwn(receipt);
    },
    answerLate(answer, at) {
      markTaken(state, answer, at);
      const found = state.messages.find(answer.messageId);
      if (!found) return;
      const message = { ...found, channel: found.progress.channel };
      meanwhile.recordIds({ ...answer, ...idsOf(answer, { at, message }) });
    },
    receive: createReceive(state),
  };
}

/** What becomes of parked receipts that are found to be about an attempt. */
function createTakeParked<M extends KnownMessage>(state: ReceiptState<M>) {
  const receive = createReceive(state);
  return {
    receive,
    receiveOwn: createReceive({ ...state, wasHandedTo: () => true }),
    recordIds: createRecordIds(state, receive),
  };
}

function createReceive<M extends KnownMessage>(state: ReceiptState<M>): ProviderIds["receive"] {
  return (receipt) => {
    if (receipt.target) return applyToTarget(state, receipt, receipt.target);
    if (receipt.alsoOf) return applyElsewhere(state, receipt);
    const result = applyFound(state, receipt);
    if (result) return result;
    state.parked.park(receipt);
    return { kind: "parked" };
  };
}

/** `undefined`: it is about no message that is known, or is to be parked until an attempt is over. */
function applyFound<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
): ReceiptResult | undefined {
  const found = matchReceipt(state, receipt);
  if (!found) return receipt.isOwnId ? applyToOwn(state, receipt) : undefined;
  return applyOrKeep(state, receipt, found);
}

function applyOrKeep<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  found: Match<M>,
): ReceiptResult | undefined {
  if (isTooEarly(state, receipt, found)) return keepForLater(state, receipt, found);
  return applyToMatch(state, receipt, found.by === "reference" ? markSent(state, found, receipt) : found);
}

/**
 * Whether a receipt says that a part was not delivered which an attempt under way may be sending again: that copy may be
 * delivered, and final states never change. A part that was taken meanwhile may be as well, where the message is.
 */
function isTooEarly<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part: index }: Match<M>,
): boolean {
  const { progress } = message;
  const part = progress.parts[index];
  const maybeAgain = part && !isOfOtherCopy(part, receipt) && (isOpen(part) || progress.status === "sent");
  return mayBeTooEarly(receipt, progress) && maybeAgain === true && state.isSentAgain(message);
}

/**
 * The rest is whether an attempt is under way. Before a message's first entry none has ended, and one that was sent by its
 * first attempt has only that entry.
 */
export function mayBeTooEarly(receipt: Receipt, { channel, status, position }: Progress): boolean {
  const mayBeUnderWay = (status === "sending" && position > 0) || (status === "sent" && position > 1);
  return channel === "sms" && mayBeUnderWay && saysNotDelivered(receipt);
}

/**
 * Until the attempt under way is over: its settlement finds it with the part. Not where it names the message by our id, so that
 * it may be about the copy of a connector that shares receipts with this one: then it is to be parked.
 */
function keepForLater<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part, by }: Match<M>,
): ReceiptResult | undefined {
  if (receipt.isOwnId) return undefined;
  const { id: messageId, progress } = message;
  const { connectorId, providerMessageId } = receipt;
  if (by === "reference")
    state.knownIds.note({ messageId, part, connectorId, providerMessageIds: [providerMessageId] });
  state.messages.save(message, keepEarlyFailure(progress, part, { receipt, size: state.sizeOf(messageId) }));
  return { kind: "late", messageId };
}

type Named = Pick<Extract<PartOutcome, { kind: "sent" }>, "providerMessageIds" | "expectsReceipt">;

/** The ids that an outcome gives a part: those of the answer or, where that was lost, those known without it. */
export function namedIn(outcome: PartOutcome | undefined): Named | undefined {
  if (outcome?.kind === "sent") return outcome;
  if (outcome?.kind !== "unconfirmed") return undefined;
  const { providerMessageIds } = outcome;
  return providerMessageIds && { providerMessageIds };
}

function idsOf(taken: Named, { at, message }: { readonly at: number; readonly message: TriedMessage }) {
  const isAwaited = message.channel === "sms" && taken.expectsReceipt !== false;
  const { providerMessageIds } = taken;
  return { providerMessageIds, recipient: message.recipient, at, awaitedSince: isAwaited ? at : undefined };
}

function createRecordIds(
  { knownIds, parked }: Pick<ReceiptState<never>, "knownIds" | "parked">,
  receive: (receipt: Receipt) => unknown,
) {
  return (part: NotedIds & Pick<PartIds, "recipient" | "at">): void => {
    knownIds.note(part);
    const { connectorId, messageId, providerMessageIds: ids, recipient, at } = part;
    for (const receipt of parked.takeByIds({ connectorId, messageId, ids, recipient, at })) receive(receipt);
  };
}

interface Unanswered {
  readonly part: number;
  readonly connectorId: string | undefined;
  readonly message: TriedMessage;
}

/** A receipt that carries the part's reference proves that it was sent, and may have come before the attempt was given up. */
function expectReference(
  { unconfirmed, parked }: Pick<ReceiptState<never>, "unconfirmed" | "parked">,
  { part, connectorId, message: { id: messageId, recipient } }: Unanswered,
  receive: (receipt: Receipt) => unknown,
): void {
  unconfirmed.note({ messageId, part }, connectorId);
  const reference = partReference(messageId, part);
  for (const receipt of parked.takeByReference({ connectorId, reference, recipient })) receive(receipt);
}

/**
 * Takes a parked receipt, and whatever else is parked about the same part, if it is about a message of another connector.
 * What somebody else has taken meanwhile is left.
 */
function applyElsewhere<M extends KnownMessage>(state: ReceiptState<M>, receipt: Receipt): ReceiptResult {
  const found = matchElsewhere(state, receipt);
  if (!found) return { kind: "parked" };
  const { connectorId, message, part, id } = found;
  const { recipient } = message;
  const about = { messageId: message.id, ids: [id], recipient, at: receipt.receivedAt };
  const taken = state.parked.takeByIds({ ...about, connectorId: receipt.connectorId });
  let result: ReceiptResult = { kind: "parked" };
  for (const each of taken) {
    if (isSameNumber(recipient, each.recipient) !== true) {
      state.parked.park(each);
      continue;
    }
    const latest = { message: state.messages.find(message.id) ?? message, part, by: found.by };
    const applied = applyOrKeep(state, { ...each, connectorId }, latest);
    if (applied) result = applied;
    else state.parked.park(each);
  }
  return result;
}

/** Applies a receipt that names our message, under an id that was never recorded. `undefined`: it proves nothing. */
function applyToOwn<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
): ReceiptResult | undefined {
  const message = state.messages.find(receipt.providerMessageId);
  if (message?.progress.channel !== "sms" || receipt.status === "sent") return undefined;
  return isSettled(message.progress)
    ? applyToSettled(state, receipt, message)
    : applyToOpen(state, receipt, message);
}

/**
 * Another attempt has settled the message: what counts is whether the provider had been handed it before. That its copy was
 * not delivered decides nothing while the other still may be; but it may be about that one, where connectors share receipts.
 */
function applyToSettled<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  message: M,
): ReceiptResult | undefined {
  const { status, parts } = message.progress;
  const saysNothing = status === "sent" && parts.every((part) => isOfNeitherCopy(part, receipt));
  if (saysNothing || !state.wasHandedTo(message.id, receipt.connectorId)) return undefined;
  return applyToMatch(state, receipt, { message, part: 0, by: "id" });
}

/**
 * To the parts whose attempt was never recorded: it was interrupted, is under way, or got no answer. `undefined` if there are
 * none. A part that the provider has put off was not taken, and only word that it was delivered can be about it.
 */
function applyToOpen<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  message: M,
): ReceiptResult | undefined {
  const { id: messageId } = message;
  const { parts, status: before } = message.progress;
  const isEarly = mayBeTooEarly(receipt, message.progress) && state.isSentAgain(message);
  if (isEarly) return undefined;
  const mayBeTaken = (part: Part) => part.status === "unconfirmed" || before === "sending" || !part.error;
  const isMeant = (part: Part) =>
    isOpen(part) && (receipt.status === "delivered" || (mayBeTaken(part) && !isOfOtherCopy(part, receipt)));
  const meant = parts.length === 0 ? [0] : parts.flatMap((part, index) => (isMeant(part) ? [index] : []));
  if (meant.length === 0) return undefined;
  for (const part of meant)
    markSent(state, { message: state.messages.find(messageId) ?? message, part, by: "reference" }, receipt);
  const sent = state.messages.find(messageId) ?? message;
  return applyToMatch(state, receipt, { message: sent, part: meant[0] ?? 0, by: "id" });
}

/**
 * Marks a part as sent, since a receipt names it by its reference: the provider has it, under the receipt's id. Not where that
 * one has failed and another connector may have sent the part since.
 */
function markSent<M extends KnownMessage>(
  state: ReceiptState<M>,
  found: Match<M>,
  receipt: Receipt,
): Match<M> {
  const { id: messageId, progress } = found.message;
  const { connectorId, providerMessageId, receivedAt } = receipt;
  const answer = { messageId, part: found.part, connectorId, providerMessageIds: [providerMessageId] };
  const awaitedSince = receipt.status === "sent" ? receivedAt : undefined;
  state.knownIds.note({ ...answer, awaitedSince });
  const part = progress.parts[found.part];
  // The size is told where a message becomes sent. One that is settled has been sent, or never will be.
  const detail = isSettled(progress) ? {} : { ...state.sizeOf(messageId) };
  const parts = Math.max(progress.parts.length, found.part + 1);
  // Of a copy on its way beside the one that another connector has taken, it is only known that it is there.
  const isBeside = part?.status === "sent" && receipt.status === "sent" && part.connectorId !== connectorId;
  if (!part || isBeside || (isOpen(part) && !isOfOtherCopy(part, receipt)))
    markTaken(state, { ...answer, parts, detail }, receivedAt);
  return { ...found, message: state.messages.find(messageId) ?? found.message };
}

/** Moves the message only: ids are recorded, and receipts applied, by the caller. */
function markTaken<M extends KnownMessage>(
  { messages }: Pick<ReceiptState<M>, "messages">,
  answer: LateAnswer,
  at: number,
): void {
  const message = messages.find(answer.messageId);
  if (message) messages.save(message, applyLateAnswer(message.progress, answer, at));
}
