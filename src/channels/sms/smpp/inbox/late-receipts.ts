import type { Clock } from "../../../../core/clock.ts";
import type { Receipt } from "../../../../core/messages/outcome.ts";
import { HOUR_MS } from "../../../../core/time/durations.ts";
import { ESME_RX_T_APPN, STATUS_OK } from "../wire/status-words.ts";

/** A store that has not said by then what became of a receipt is given it again: it says so within half a minute otherwise. */
const GIVEN_UP_MS = 60_000;

/** A repeat of a stored receipt comes by then. Later, the same words may be about a new message, as after an SMSC has begun its ids anew. */
const REPEATED_WITHIN_MS = HOUR_MS;

/** The most receipts that are remembered; of further ones the oldest are forgotten, and stored once more when they are repeated. */
const MAX_REMEMBERED = 20_000;

/**
 * Remembers the receipts that were refused because storing them took too long. The SMSC delivers them again, mostly before the
 * store is done with them: were each repeat stored, too, a store that is slow for a moment would have more to do with every second.
 */
export interface LateReceipts {
  /** What a repeat is answered without being stored; `undefined` if this is no repeat of a late receipt. */
  answerTo(receipt: Receipt): number | undefined;
  /** Settles as the call that stores these receipts does, and remembers them if that takes too long. */
  watch(receipts: readonly Receipt[], storing: Promise<void>): Promise<void>;
}

export function createLateReceipts(
  clock: Pick<Clock, "after" | "monotonicMs">,
  storeTimeoutMs: number,
): LateReceipts {
  /** Those refused last come last. */
  const late = new Map<string, { readonly sinceMs: number; isStored: boolean }>();

  const remember = (keys: readonly string[]) => {
    const sinceMs = clock.monotonicMs();
    for (const key of keys) {
      late.delete(key);
      late.set(key, { sinceMs, isStored: false });
    }
    for (const key of late.keys()) {
      if (late.size <= MAX_REMEMBERED) break;
      late.delete(key);
    }
  };
  return {
    answerTo(receipt) {
      const key = keyOf(receipt);
      const known = late.get(key);
      if (!known) return undefined;
      const ageMs = clock.monotonicMs() - known.sinceMs;
      if (!known.isStored && ageMs < GIVEN_UP_MS) return ESME_RX_T_APPN;
      late.delete(key);
      return known.isStored && ageMs < REPEATED_WITHIN_MS ? STATUS_OK : undefined;
    },
    async watch(receipts, storing) {
      let keys: readonly string[] = [];
      const cancel = clock.after(storeTimeoutMs, () => {
        keys = receipts.map(keyOf);
        remember(keys);
      });
      try {
        await storing;
        for (const key of keys) {
          const known = late.get(key);
          if (known) known.isStored = true;
        }
      } catch (error) {
        for (const key of keys) late.delete(key);
        throw error;
      } finally {
        cancel();
      }
    },
  };
}

/** All that an SMSC repeats. */
function keyOf({ providerMessageId, otherId, recipient, reference, status, raw }: Receipt): string {
  return JSON.stringify([providerMessageId, otherId, recipient, reference, status, raw]);
}
