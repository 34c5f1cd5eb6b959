import { errorText } from "../../../../core/error-text.ts";
import { inTime } from "../../../../core/work/in-time.ts";
import { isOutage, StoreUnavailable } from "../../../../store/store.ts";
import type { ChannelDeps } from "../../../channel.ts";
import { ESME_RX_T_APPN, STATUS_OK } from "../wire/status-words.ts";

/** Stores what the SMSC delivers, in batches, and acknowledges each item once it is stored. */
export interface StoreLine<Item> {
  /** Acknowledges with a temporary error if too many items wait, or if storing fails or takes too long: the SMSC keeps the item. */
  join(item: Item, acknowledge: (status: number) => void): void;
}

export interface StoreLineOptions<Item> {
  /** What the items are called in the log: `receipts`. */
  readonly noun: string;
  readonly connectorId: string;
  readonly timeoutMs: number;
  readonly store: (items: readonly Item[]) => Promise<void>;
}

/** The time between two log lines about items that could not be stored: while the database is away an SMSC may repeat each of them at once. */
const UNSTORED_GAP_MS = 1_000;

/** The most items that wait; further ones are refused for now. */
const MAX_WAITING = 1000;

interface Waiting<Item> {
  readonly item: Item;
  readonly acknowledge: (status: number) => void;
}

type LineDeps = Pick<ChannelDeps, "clock" | "log">;

export function createStoreLine<Item>(options: StoreLineOptions<Item>, deps: LineDeps): StoreLine<Item> {
  let waiting: Waiting<Item>[] = [];
  let isStoring = false;
  const tellUnstored = createUnstoredLog(options, deps);

  /** Makes one call of `store` at a time. Items that come meanwhile go with the next call, so that a burst shares a commit. */
  const storeAll = async () => {
    if (isStoring) return;
    isStoring = true;
    // Lets the other PDUs of the same read join.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await storeBatch(batch);
    }
    isStoring = false;
  };
  /** Where one item may be at fault, its halves are stored on their own, so that the SMSC need not keep the others too. */
  const storeBatch = async (batch: readonly Waiting<Item>[]): Promise<void> => {
    const items = batch.map(({ item }) => item);
    const failure = await whyUnstored(options, deps.clock, items);
    if (failure && !isOutage(failure.error) && batch.length > 1) {
      const half = Math.ceil(batch.length / 2);
      await storeBatch(batch.slice(0, half));
      return storeBatch(batch.slice(half));
    }
    if (failure) tellUnstored(items.length, errorText(failure.error));
    for (const { acknowledge } of batch) acknowledge(failure ? ESME_RX_T_APPN : STATUS_OK);
  };

  return {
    join(item, acknowledge) {
      if (waiting.length >= MAX_WAITING) return acknowledge(ESME_RX_T_APPN);
      waiting.push({ item, acknowledge });
      void storeAll();
    },
  };
}

interface Failed {
  readonly error: unknown;
}

/** Resolves with `undefined` once the items are stored, or with why they are not. */
async function whyUnstored<Item>(
  { timeoutMs, store }: StoreLineOptions<Item>,
  clock: LineDeps["clock"],
  items: readonly Item[],
): Promise<Failed | undefined> {
  const late = () => {
    throw new StoreUnavailable("storing took too long");
  };
  try {
    await inTime(clock, { limitMs: timeoutMs, late }, store(items));
    return undefined;
  } catch (error) {
    return { error };
  }
}

/** Logs that items could not be stored, and then, at most once a second, how many there were since. Not their error, which may repeat what they say. */
function createUnstoredLog(
  { noun, connectorId: connector }: Pick<StoreLineOptions<never>, "noun" | "connectorId">,
  { clock, log }: LineDeps,
) {
  let toldAtMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (items: number, reason: string): void => {
    count += items;
    const nowMs = clock.monotonicMs();
    if (nowMs - toldAtMs < UNSTORED_GAP_MS) return;
    log.warn({ connector, count, reason }, `${noun} could not be stored; the SMSC keeps them`);
    toldAtMs = nowMs;
    count = 0;
  };
}
