import type { Clock } from "../../../core/clock.ts";
import type { Receipt } from "../../../core/outcome.ts";
import type { ChannelDeps } from "../../channel.ts";
import { canonicalId, type IdFormat } from "./message-id.ts";
import type { ShortMessage } from "./pdu.ts";
import { isReceipt, readReceipt } from "./receipt.ts";
import { ESME_RX_T_APPN, STATUS_OK } from "./status-words.ts";

/** Takes what the SMSC delivers: stores receipts, then acknowledges them. */
export interface ReceiptInbox {
  take(message: ShortMessage, acknowledge: (status: number) => void): void;
  /** Resolves when nothing waits to be stored. */
  whenEmpty(): Promise<void>;
}

interface Waiting {
  readonly receipt: Receipt;
  readonly acknowledge: (status: number) => void;
}

/** Receipts that wait to be stored; those beyond are refused for now, and the SMSC keeps them. */
const MAX_WAITING = 1000;

/** Messages from handsets are counted, not kept, and the count is logged this often at most. */
const COUNT_LOG_MS = 60_000;

type InboxDeps = Pick<ChannelDeps, "clock" | "log" | "onReceipts">;

export interface InboxOptions {
  readonly connectorId: string;
  readonly idFormat: IdFormat;
  readonly storeTimeoutMs: number;
}

export function createReceiptInbox(options: InboxOptions, deps: InboxDeps): ReceiptInbox {
  const { connectorId, idFormat, storeTimeoutMs } = options;
  let waiting: Waiting[] = [];
  let storing: Promise<void> | undefined;
  const countMessage = createCounter(deps.clock, (count) =>
    deps.log.info({ connectorId, count }, "messages from handsets acknowledged and not kept"),
  );

  /** One call at a time; what comes meanwhile goes with the next, so that a burst shares a commit. */
  const storeAll = async () => {
    // Lets the receipts that came in the same octets gather first.
    await Promise.resolve();
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      const isStored = await isStoredInTime(deps, { connectorId, batch, storeTimeoutMs });
      for (const { acknowledge } of batch) acknowledge(isStored ? STATUS_OK : ESME_RX_T_APPN);
    }
    storing = undefined;
  };

  return {
    take(message, acknowledge) {
      if (!isReceipt(message)) {
        countMessage();
        return acknowledge(STATUS_OK);
      }
      const receipt = readReceipt(message);
      if (!receipt) {
        deps.log.warn({ connectorId }, "a receipt names no message and was dropped");
        return acknowledge(STATUS_OK);
      }
      if (waiting.length >= MAX_WAITING) return acknowledge(ESME_RX_T_APPN);
      const providerMessageId = canonicalId(receipt.providerMessageId, idFormat, "receipt");
      waiting.push({
        receipt: { ...receipt, providerMessageId, connectorId, receivedAt: deps.clock.now() },
        acknowledge,
      });
      storing ??= storeAll();
    },
    whenEmpty: async () => storing,
  };
}

interface Storing {
  readonly connectorId: string;
  readonly batch: readonly Waiting[];
  readonly storeTimeoutMs: number;
}

async function isStoredInTime(
  deps: InboxDeps,
  { connectorId, batch, storeTimeoutMs }: Storing,
): Promise<boolean> {
  const timeUp = Promise.withResolvers<never>();
  const cancel = deps.clock.after(storeTimeoutMs, () => timeUp.reject(new Error("storing took too long")));
  try {
    await Promise.race([deps.onReceipts(batch.map(({ receipt }) => receipt)), timeUp.promise]);
    return true;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    deps.log.warn(
      { connectorId, count: batch.length, reason },
      "receipts could not be stored; the SMSC keeps them",
    );
    return false;
  } finally {
    cancel();
  }
}

function createCounter(clock: Clock, log: (count: number) => void): () => void {
  let count = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    count++;
    if (clock.monotonicMs() - loggedAt < COUNT_LOG_MS) return;
    log(count);
    count = 0;
    loggedAt = clock.monotonicMs();
  };
}
