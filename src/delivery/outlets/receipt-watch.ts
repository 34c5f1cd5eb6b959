import type { Clock } from "../../core/clock.ts";
import { createRecentScore } from "./recent-score.ts";

/** A receipt that has not come after this long is slow. */
const SLOW_MS = 60_000;

/** The most messages that are watched at a time, and early receipts that are kept. Further messages are not watched. */
const MAX_WATCHED = 1_000;

/** Tells whether a connector's receipts come in time, by the messages that this process sent and the receipts that it sees. */
export interface ReceiptWatch {
  sent(message: Watched): void;
  came(receipt: SeenReceipt): void;
  /** From 0 (none in time) to 1 (all in time). 1 for a connector that has given no receipt yet, since its kind may give none. */
  value(): number;
}

export interface Watched {
  readonly messageId: string;
  readonly providerMessageIds: readonly string[];
}

export interface SeenReceipt {
  readonly providerMessageId: string;
  /** Absent if no message matched, for example because the receipt came before the provider's id was recorded. */
  readonly messageId?: string;
}

export function createReceiptWatch(clock: Clock): ReceiptWatch {
  const score = createRecentScore(clock);
  const waiting = createWaiting(clock, score.note);
  const early = new Set<string>();
  let hasReceipts = false;

  return {
    sent(message) {
      const isReceived = message.providerMessageIds.some((id) => early.delete(id));
      if (isReceived) score.note(true);
      else waiting.add(message);
    },
    came(receipt) {
      hasReceipts = true;
      const isKnown = waiting.take(receipt);
      if (isKnown || receipt.messageId !== undefined) return;
      if (early.size >= MAX_WATCHED) early.clear();
      early.add(receipt.providerMessageId);
    },
    value() {
      waiting.giveUp();
      return hasReceipts ? score.value() : 1;
    },
  };
}

/** The messages whose receipts are awaited, oldest first. */
function createWaiting(clock: Clock, note: (isInTime: boolean) => void) {
  const byMessage = new Map<string, Watched & { readonly sinceMs: number }>();
  const byProviderId = new Map<string, string>();

  const remove = (message: Watched) => {
    byMessage.delete(message.messageId);
    for (const id of message.providerMessageIds) byProviderId.delete(id);
  };
  const giveUp = () => {
    const slowSinceMs = clock.monotonicMs() - SLOW_MS;
    for (const message of byMessage.values()) {
      if (message.sinceMs > slowSinceMs) return;
      remove(message);
      note(false);
    }
  };
  return {
    add(message: Watched): void {
      giveUp();
      if (byMessage.size >= MAX_WATCHED || byMessage.has(message.messageId)) return;
      byMessage.set(message.messageId, { ...message, sinceMs: clock.monotonicMs() });
      for (const id of message.providerMessageIds) byProviderId.set(id, message.messageId);
    },
    /** Removes the message of a receipt. True if the receipt was awaited. */
    take({ messageId, providerMessageId }: SeenReceipt): boolean {
      giveUp();
      const message = byMessage.get(messageId ?? byProviderId.get(providerMessageId) ?? "");
      if (!message) return false;
      remove(message);
      note(true);
      return true;
    },
    giveUp,
  };
}
