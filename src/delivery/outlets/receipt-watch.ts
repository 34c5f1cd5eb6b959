import type { Clock } from "../../core/clock.ts";
import { createMark } from "./mark.ts";

/** A message whose receipt is not there after so long has a slow one. */
const SLOW_MS = 60_000;

/** Messages watched, and early receipts kept, at one time; more pass unwatched. */
const MAX_WATCHED = 1_000;

/** Whether a connector's receipts come in time, by what this process has sent and sees come in. */
export interface ReceiptWatch {
  sent(message: Watched): void;
  came(receipt: SeenReceipt): void;
  /** From 0 to 1; 1 for a connector that has never given a receipt: it may be of the kind that gives none. */
  value(): number;
}

export interface Watched {
  readonly messageId: string;
  readonly providerMessageIds: readonly string[];
}

/** `messageId` where it was matched; one that comes before its message has been recorded is not. */
export interface SeenReceipt {
  readonly providerMessageId: string;
  readonly messageId?: string;
}

export function createReceiptWatch(clock: Clock): ReceiptWatch {
  const mark = createMark(clock);
  const waiting = createWaiting(clock, mark.note);
  const early = new Set<string>();
  let isGiven = false;

  return {
    sent(message) {
      const isThere = message.providerMessageIds.some((id) => early.delete(id));
      if (isThere) mark.note(true);
      else waiting.add(message);
    },
    came(receipt) {
      isGiven = true;
      const isKnown = waiting.take(receipt);
      if (isKnown || receipt.messageId !== undefined) return;
      if (early.size >= MAX_WATCHED) early.clear();
      early.add(receipt.providerMessageId);
    },
    value() {
      waiting.giveUp();
      return isGiven ? mark.value() : 1;
    },
  };
}

/** Messages whose receipts are awaited, oldest first. */
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
    /** True if it was awaited. */
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
