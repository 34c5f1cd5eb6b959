import { awaitedInstead, isAboutUnknownCopy } from "../../core/messages/copies.ts";
import { settleReceipt } from "../../core/messages/early-failure.ts";
import type { Part, TimelineEntry } from "../../core/messages/message.ts";
import type { Receipt, ReceiptResult } from "../../core/messages/outcome.ts";
import { mayMove } from "../../core/messages/part.ts";
import { addressKey } from "../../core/suppressions/address-key.ts";
import type { Match } from "./match-receipt.ts";
import type { KnownMessage, ReceiptState, SizeOf } from "./receipt-state.ts";

/** Applies a receipt to the part that it was matched with, inside a transaction. */
export function applyToMatch<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, part, by }: Match<M>,
): ReceiptResult {
  return apply(state, receipt, { message, by, indexes: partsWithId(message.progress.parts, receipt, part) });
}

/** Applies a receipt to the part that it names itself (`Receipt.target`), inside a transaction. */
export function applyToTarget<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  target: NonNullable<Receipt["target"]>,
): ReceiptResult {
  const { messageId } = target;
  const message = state.messages.find(messageId);
  const indexes = message ? partsNamed(message.progress.parts, receipt) : [];
  if (!message || indexes.length === 0) return { kind: "unknown", messageId };
  return apply(state, receipt, { message, indexes, by: "id" });
}

interface Application<M extends KnownMessage> extends Omit<Match<M>, "part"> {
  readonly indexes: readonly number[];
}

function apply<M extends KnownMessage>(
  state: ReceiptState<M>,
  receipt: Receipt,
  { message, indexes, by }: Application<M>,
): ReceiptResult {
  const { messages, knownIds } = state;
  let { progress } = message;
  let isLate = true;
  for (const part of indexes) {
    const before = progress.parts[part];
    const step = settleReceipt(progress, part, receipt);
    // A timeline that is full gets no entry, though one of several copies has failed.
    const isChanged = step.progress !== progress || step.entries.length > 0;
    progress = step.progress;
    isLate &&= step.isLate;
    const entries = step.entries.map((entry) => withSize(state.sizeOf, message.id, withMatch(entry, by)));
    if (isChanged) messages.save(message, { ...step, entries });
    const ref = { messageId: message.id, part };
    const instead = awaitedInstead(before, progress.parts[part]);
    if (instead) knownIds.awaitInstead(ref, instead, receipt.receivedAt);
    else if (receipt.status !== "sent" && awaitsNothing(progress.parts[part])) knownIds.received(ref);
    learn(state, message, { receipt, email: progress.parts[part]?.address });
  }
  return { kind: isLate ? "late" : "applied", messageId: message.id };
}

/** Whether no receipt for the part is awaited any more. */
function awaitsNothing(part: Part | undefined): boolean {
  return part === undefined || !mayMove(part.status, "delivered");
}

/** Adds, for operators, how the receipt was matched, unless that was by its id. */
function withMatch(entry: TimelineEntry, by: Match<KnownMessage>["by"]): TimelineEntry {
  return by === "id" ? entry : { ...entry, detail: { ...entry.detail, matched_by: by } };
}

/** Adds the size of an SMS, as its attempt counted it, if the receipt is the first to say that it was sent. */
function withSize(sizeOf: SizeOf, messageId: string, entry: TimelineEntry): TimelineEntry {
  if (entry.eventType !== "sms.sent") return entry;
  return { ...entry, detail: { ...sizeOf(messageId), ...entry.detail } };
}

/** Updates the suppression list, also by late receipts: they are just as true. */
function learn<M extends KnownMessage>(
  { suppressions }: ReceiptState<M>,
  message: M,
  { receipt, email }: { readonly receipt: Receipt; readonly email: string | undefined },
): void {
  const { status, receivedAt: at } = receipt;
  if (email === undefined) return;
  const reason = reasonFor(email, receipt);
  if (reason) suppressions.learn(message, { email, reason, at });
  else if (status === "delivered") suppressions.forgive(message, email);
}

/**
 * If the address that is gone is another than the one that got the mail, that one leads there, and nobody says whether it leads to
 * others, too.
 */
function reasonFor(email: string, { suppress, target, recipient = email }: Receipt): Receipt["suppress"] {
  const isElsewhere = target?.part !== undefined && addressKey(recipient) !== addressKey(email);
  return suppress === "hard_bounce" && isElsewhere ? "soft_bounce" : suppress;
}

/** The parts that the receipt names itself: by index, or by address in any case and any spelling of the domain. */
function partsNamed(parts: readonly Part[], { target, recipient = "" }: Receipt): readonly number[] {
  const wanted = addressKey(recipient);
  const isNamed = ({ address = "" }: Part, index: number) =>
    target?.part === undefined ? addressKey(address) === wanted : index === target.part;
  return parts.flatMap((part, index) => (isNamed(part, index) ? [index] : []));
}

/**
 * All parts with the receipt's id, which several recipients of one envelope may share; if there are none, the matched part.
 * Our own id names all segments of an SMS, even if another connector divides it differently.
 */
function partsWithId(parts: readonly Part[], receipt: Receipt, matched: number): readonly number[] {
  const isNamed = (part: Part) =>
    receipt.isOwnId
      ? mayMove(part.status, "delivered") && !isAboutUnknownCopy(part, receipt)
      : part.connectorId === receipt.connectorId && part.providerMessageId === receipt.providerMessageId;
  const named = parts.flatMap((part, index) => (isNamed(part) ? [index] : []));
  return named.length > 0 ? named : [matched];
}
