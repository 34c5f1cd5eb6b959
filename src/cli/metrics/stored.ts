import type { Clock } from "../../core/clock.ts";
import { inTime } from "../../core/work/in-time.ts";
import { MAX_COUNTED } from "../../store/max-counted.ts";
import {
  type InboundStore,
  type Outbox,
  type Queue,
  type ReceiptStore,
  StoreUnavailable,
} from "../../store/store.ts";

/** Prometheus waits 10 s for a scrape unless configured otherwise. */
const LIMIT_MS = 8_000;

export interface StoredSources {
  readonly queue: Pick<Queue, "backlog">;
  readonly receipts: Pick<ReceiptStore, "countParked" | "countOverdue">;
  readonly inbound: Pick<InboundStore, "countUnassigned">;
  readonly outbox: Pick<Outbox, "backlog">;
  readonly clock: Pick<Clock, "after">;
}

export type Stored = Awaited<ReturnType<typeof readAll>>;

/**
 * What only the database knows. `undefined` while it does not answer: the scrape then shows what the process itself knows, which
 * is needed all the more.
 */
export async function readStored(sources: StoredSources): Promise<Stored | undefined> {
  try {
    return await inTime(sources.clock, { limitMs: LIMIT_MS, late: () => undefined }, readAll(sources));
  } catch (error) {
    if (error instanceof StoreUnavailable) return undefined;
    throw error;
  }
}

/** Reads one after the other, so that a scrape takes no more than one connection. */
async function readAll({ queue, receipts, inbound, outbox }: StoredSources) {
  return {
    queues: await queue.backlog(MAX_COUNTED),
    parked: await receipts.countParked(),
    overdue: await receipts.countOverdue(),
    unassigned: await inbound.countUnassigned(),
    webhooks: await outbox.backlog(),
  };
}
