import type { PartRef, Receipt } from "../../core/messages/outcome.ts";
import { mayMove } from "../../core/messages/part.ts";
import { foldId, inOtherRadix } from "../../core/receipts/provider-id.ts";
import { isSameNumber } from "../../core/receipts/same-number.ts";
import { cameBefore } from "./parked-keys.ts";
import type { KnownId, KnownMessage, ReceiptState } from "./receipt-state.ts";

type MatchState<M extends KnownMessage> = Pick<ReceiptState<M>, "messages" | "knownIds" | "unconfirmed">;

export interface Match<M extends KnownMessage> {
  readonly message: M;
  readonly part: number;
  readonly by: "id" | "other_id" | "another_form" | "reference" | "another_connector";
}

/**
 * Finds the part that a receipt is about. First by the receipt's id: if a provider has reused an id, the newest message that
 * is still open is meant. Then by its other id, by another form of the id, and by the reference of an unconfirmed part, but by
 * these only if the number agrees.
 */
export function matchReceipt<M extends KnownMessage>(
  state: MatchState<M>,
  receipt: Receipt,
): Match<M> | undefined {
  const known = state.knownIds.find(receipt.connectorId, foldId(receipt.providerMessageId));
  const named = byId(state, receipt, known);
  // If a receipt has two ids, the one that leads to its number is right. Most receipts have one.
  const other = receipt.otherId === undefined || named?.isSameNumber ? undefined : byOtherId(state, receipt);
  return other ?? named ?? byForm(state, receipt, known) ?? byReference(state, receipt);
}

/**
 * `matchReceipt` among the messages of the connectors in `alsoOf`; also returns the connector that sent the part, and the id
 * that matched. The number has to agree as well: an id that another connector's provider gave proves nothing by itself. Nor is a
 * message meant that was accepted after the receipt had come: unless it is recent, it may have waited until its id was given
 * out again.
 */
export function matchElsewhere<M extends KnownMessage>(
  { messages, knownIds }: MatchState<M>,
  receipt: Receipt,
): (Match<M> & { readonly connectorId: string; readonly id: string }) | undefined {
  const { providerMessageId, otherId, alsoOf = [], isRecent } = receipt;
  const withId = (id: string) =>
    sameNumber(
      alsoOf.flatMap((connectorId) => {
        const known = knownIds.find(connectorId, foldId(id));
        const candidates = toCandidates(messages, receipt, known);
        return candidates
          .filter(({ message }) => isRecent || !cameBefore(receipt, message.id))
          .map((each) => ({ ...each, connectorId, id }));
      }),
    );
  const best = withId(providerMessageId) ?? (otherId === undefined ? undefined : withId(otherId));
  return best && { ...best, by: "another_connector" };
}

interface Candidate<M extends KnownMessage> extends Omit<Match<M>, "by"> {
  /** Whether the receipt would change its status. */
  readonly isOpen: boolean;
  /** Whether the receipt is about the message's number; `undefined`: not known. */
  readonly isSameNumber: boolean | undefined;
}

function byId<M extends KnownMessage>(
  { messages }: MatchState<M>,
  receipt: Receipt,
  known: readonly KnownId[],
): (Candidate<M> & Match<M>) | undefined {
  const named = known.filter(({ providerId }) => providerId === receipt.providerMessageId);
  const candidates = toCandidates(messages, receipt, named);
  const isSure = (each: Candidate<M>) => each.isSameNumber === true;
  const sure = candidates.find((each) => each.isOpen && isSure(each)) ?? candidates.find(isSure);
  const likely = () =>
    candidates.find(({ isOpen }) => isOpen) ??
    // A receipt for another number is about a message whose id is not recorded yet.
    candidates.find((each) => each.isSameNumber === undefined);
  const found = sure ?? (receipt.isByText ? undefined : likely());
  return found && { ...found, by: "id" };
}

function byOtherId<M extends KnownMessage>(
  { messages, knownIds }: MatchState<M>,
  receipt: Receipt,
): Match<M> | undefined {
  const { connectorId, otherId = "" } = receipt;
  const found = sameNumber(toCandidates(messages, receipt, knownIds.find(connectorId, foldId(otherId))));
  return found && { ...found, by: "other_id" };
}

function byForm<M extends KnownMessage>(
  { messages, knownIds }: MatchState<M>,
  receipt: Receipt,
  known: readonly KnownId[],
): Match<M> | undefined {
  const { connectorId, providerMessageId, recipient } = receipt;
  if (recipient === undefined) return undefined;
  const others = inOtherRadix(providerMessageId).flatMap((form) => knownIds.find(connectorId, form));
  const found = sameNumber(toCandidates(messages, receipt, [...known, ...others]));
  return found && { ...found, by: "another_form" };
}

function byReference<M extends KnownMessage>(
  { messages, unconfirmed }: MatchState<M>,
  receipt: Receipt,
): Match<M> | undefined {
  const { connectorId, reference } = receipt;
  if (reference === undefined) return undefined;
  const found = sameNumber(toCandidates(messages, receipt, unconfirmed.find(connectorId, reference)));
  return found && { ...found, by: "reference" };
}

function toCandidates<M extends KnownMessage>(
  messages: MatchState<M>["messages"],
  receipt: Receipt,
  parts: readonly PartRef[],
): Candidate<M>[] {
  return parts.flatMap(({ messageId, part }) => {
    const message = messages.find(messageId);
    const status = message?.progress.parts[part]?.status;
    if (!message || !status) return [];
    return {
      message,
      part,
      isOpen: receipt.status !== "complained" && mayMove(status, receipt.status),
      isSameNumber: isSameNumber(message.recipient, receipt.recipient),
    };
  });
}

/** The newest candidate to the same number that is open; else the newest one. */
function sameNumber<C extends Candidate<KnownMessage>>(candidates: readonly C[]): C | undefined {
  const same = candidates
    .filter((each) => each.isSameNumber === true)
    .sort((a, b) => (a.message.id < b.message.id ? 1 : -1));
  return same.find(({ isOpen }) => isOpen) ?? same[0];
}
