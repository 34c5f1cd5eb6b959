import type { Progress } from "../../core/messages/message.ts";
import type { PartOutcome, Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import type { Settlement } from "../../core/queue/claimed-job.ts";
import type { LateAnswer } from "../../core/receipts/late-answer.ts";
import { foldId } from "../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { partReference } from "../../core/receipts/short-reference.ts";
import { applyToMatch, applyToTarget } from "./apply-receipt.ts";
import { markSent, markTaken } from "./mark-sent.ts";
import { type Match, matchElsewhere, matchReceipt } from "./match-receipt.ts";
import { applyToOwn } from "./own-id.ts";
import { cameBefore } from "./parked-keys.ts";
import type { KnownMessage, NotedIds, PartIds, ReceiptState } from "./receipt-state.ts";
import { isTooEarly, keepForLater } from "./too-early.ts";

/**
 * Brings together the two things that providers say about a part: the answer to the attempt, and the receipt. They may be
 * stored in either order, but never at the same time, so the second one finds what the first has left.
 */
export interface ProviderIds {
  /**
   * Records the ids that the provider gave to the parts of an attempt, and applies the receipts that were parked for them.
   * `lost`: the attempt's lease had run out, so another attempt may be under way.
   */
  recordAttempt(settlement: Settlement, message: TriedMessage, lease: "held" | "lost"): void;
  /** Records an answer that came after its attempt was settled. */
  answerLate(answer: LateAnswer, at: number): void;
  /** Applies a receipt to the part that it is about, or parks it. */
  receive(receipt: Receipt): ReceiptResult;
}

export type TriedMessage = Pick<KnownMessage, "id" | "recipient"> & Pick<Progress, "channel">;

export function createProviderIds<M extends KnownMessage>(state: ReceiptState<M>): ProviderIds {
  const meanwhile = createTakeParked(state);
  // For parked receipts that may have waited for the end of the attempt: it is over.
  const after = createTakeParked({ ...state, isSentAgain: () => false });

  return {
    recordAttempt({ connectorId, claim, outcomes, messageId, at }, message, lease) {
      const take = lease === "held" ? after : meanwhile;
      outcomes.forEach((outcome, part) => {
        const named = namedIn(outcome);
        if (named && connectorId !== undefined)
          take.recordIds({ messageId, part, connectorId, ...idsOf(named, { at, message }) });
        if (outcome?.kind === "unconfirmed" && message.channel === "sms")
          expectReference(state, { part, connectorId, message, at }, take.receive);
      });
      // Receipts by our own id that came too early, which is possible from a job's second attempt on.
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

/** Takes parked receipts that turn out to be about an attempt, and applies them. */
function createTakeParked<M extends KnownMessage>(state: ReceiptState<M>) {
  const receive = createReceive(state);
  return {
    receive,
    receiveOwn: createReceive({ ...state, wasHandedTo: () => true }),
    recordIds: createRecordIds(state, receive),
  };
}

type Receive = (receipt: Receipt, recorded?: string) => ReceiptResult;

/** @param recorded if the receipt was parked: the message whose newly recorded id, or whose reference, it was found by */
function createReceive<M extends KnownMessage>(state: ReceiptState<M>): Receive {
  return (receipt, recorded) => {
    if (receipt.target) return applyToTarget(state, receipt, receipt.target);
    if (receipt.alsoOf) return applyElsewhere(state, receipt);
    const result = applyFound(state, receipt, recorded);
    if (result) return result;
    state.parked.park(receipt);
    return { kind: "parked" };
  };
}

/** `undefined`: the receipt is to be parked, because it is about no known message, or until an attempt is over. */
function applyFound<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  recorded: string | undefined,
): ReceiptResult | undefined {
  const found = matchReceipt(
    recorded === undefined ? state : withoutLater(state, receipt, recorded),
    receipt,
  );
  if (found) return applyOrKeep(state, receipt, found);
  const { connectorId, providerMessageId, isOwnId } = receipt;
  const isRecorded = () => state.knownIds.find(connectorId, foldId(providerMessageId)).length > 0;
  return isOwnId && !isRecorded() ? applyToOwn(state, receipt) : undefined;
}

/** The state without messages that were accepted after the receipt had come: they have the same id, but are not meant. */
function withoutLater<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  recorded: string,
): ReceiptState<M> {
  const { messages } = state;
  const find = (id: string) => (id === recorded || !cameBefore(receipt, id) ? messages.find(id) : undefined);
  return { ...state, messages: { ...messages, find } };
}

function applyOrKeep<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  found: Match<M>,
): ReceiptResult | undefined {
  if (isTooEarly(state, receipt, found)) return keepForLater(state, receipt, found);
  return applyToMatch(state, receipt, found.by === "reference" ? markSent(state, found, receipt) : found);
}

type Named = Pick<Extract<PartOutcome, { kind: "sent" }>, "providerMessageIds" | "expectsReceipt">;

/** The ids that an outcome gives to a part: those of the answer or, if that was lost, those that are known without it. */
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
  receive: Receive,
) {
  return (part: NotedIds & Pick<PartIds, "recipient" | "at">): void => {
    knownIds.note(part);
    const { connectorId, messageId, providerMessageIds: ids, recipient, at } = part;
    for (const receipt of parked.takeByIds({ connectorId, messageId, ids, recipient, at }))
      receive(receipt, messageId);
  };
}

interface Unanswered {
  readonly part: number;
  readonly connectorId: string | undefined;
  readonly message: TriedMessage;
  readonly at: number;
}

/** Prepares for a receipt with the reference of an unanswered part, which proves that it was sent; it may be parked already. */
function expectReference(
  { unconfirmed, parked }: Pick<ReceiptState<never>, "unconfirmed" | "parked">,
  { part, connectorId, message: { id: messageId, recipient }, at }: Unanswered,
  receive: Receive,
): void {
  unconfirmed.note({ messageId, part }, connectorId);
  const reference = partReference(messageId, part);
  for (const receipt of parked.takeByReference({ connectorId, messageId, reference, recipient, at }))
    receive(receipt, messageId);
}

/**
 * If a parked receipt is about a message of another connector: takes it, and everything else that is parked about the same
 * part, and applies them. A receipt that another process has taken meanwhile is left alone.
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
