import type { Clock } from "../../core/clock.ts";
import type { MessageStore } from "../../store/store.ts";
import { createRecentScore } from "./recent-score.ts";

/** A receipt that has not come after this long is slow. */
const SLOW_MS = 60_000;

/** The most messages that are watched at a time, and early receipts that are kept. Further messages are not watched. */
const MAX_WATCHED = 1_000;

/** Tells whether a connector's receipts come in time, by the messages that this process sent. */
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

/**
 * Whether a message has had a receipt, whichever process it came to. A provider reports to any of them, and one that saw only its own
 * would miss the receipts of half of its messages.
 */
export type HasReceipt = (messageId: string) => Promise<boolean>;

export function byTimeline(messages: Pick<MessageStore, "timeline">): HasReceipt {
  return async (id) => {
    const entries = await messages.timeline({ id });
    return entries?.some(({ kind }) => kind === "receipt") === true;
  };
}

/** @param hasReceipt asked of a message whose receipt has not come here; absent: all receipts come to this process */
export function createReceiptWatch(clock: Clock, hasReceipt?: HasReceipt): ReceiptWatch {
  const score = createRecentScore(clock);
  const early = new Set<string>();
  let hasReceipts = false;

  const learn = (isInTime: boolean) => {
    score.note(isInTime);
    hasReceipts ||= isInTime;
  };
  const lookUp = hasReceipt && createLookUp(hasReceipt, learn);
  const noteLate = ({ messageId }: Watched) => (lookUp ? lookUp(messageId) : score.note(false));
  const waiting = createWaiting(clock, { noteLate, noteInTime: () => score.note(true) });

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

/**
 * Asks of one message after the other: those that were sent together are late together, and all else that needs the database would
 * wait for a thousand answers. Of messages that are too many, or while the database is away, nothing is learned.
 */
function createLookUp(hasReceipt: HasReceipt, learn: (isInTime: boolean) => void) {
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();
  return (messageId: string): void => {
    if (waiting >= MAX_WATCHED) return;
    waiting += 1;
    last = last
      .then(() => hasReceipt(messageId))
      .then(learn, () => {})
      .finally(() => {
        waiting -= 1;
      });
  };
}

interface Noting {
  readonly noteInTime: () => void;
  readonly noteLate: (message: Watched) => void;
}

/** The messages whose receipts are awaited, oldest first. */
function createWaiting(clock: Clock, { noteInTime, noteLate }: Noting) {
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
      noteLate(message);
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
      noteInTime();
      return true;
    },
    giveUp,
  };
}
