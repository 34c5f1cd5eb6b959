import { errorText } from "../../../../core/error-text.ts";
import { inTime } from "../../../../core/work/in-time.ts";
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

  /** Makes one call of `store` at a time. Items that come meanwhile go with the next call, so that a burst shares a commit. */
  const storeAll = async () => {
    if (isStoring) return;
    isStoring = true;
    // Lets the other PDUs of the same read join.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const isStored = await isStoredInTime(
        options,
        deps,
        batch.map(({ item }) => item),
      );
      for (const { acknowledge } of batch) acknowledge(isStored ? STATUS_OK : ESME_RX_T_APPN);
    }
    isStoring = false;
  };

  return {
    join(item, acknowledge) {
      if (waiting.length >= MAX_WAITING) return acknowledge(ESME_RX_T_APPN);
      waiting.push({ item, acknowledge });
      void storeAll();
    },
  };
}

async function isStoredInTime<Item>(
  { noun, connectorId, timeoutMs, store }: StoreLineOptions<Item>,
  { clock, log }: LineDeps,
  items: readonly Item[],
): Promise<boolean> {
  const late = () => {
    throw new Error("storing took too long");
  };
  try {
    await inTime(clock, { limitMs: timeoutMs, late }, store(items));
    return true;
  } catch (error) {
    const reason = errorText(error);
    const fields = { connector: connectorId, count: items.length, reason };
    log.warn(fields, `${noun} could not be stored; the SMSC keeps them`);
    return false;
  }
}
