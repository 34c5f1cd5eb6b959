import type { Clock } from "../../core/clock.ts";
import type { Log } from "../../core/log.ts";
import type { ReceiptStore } from "../../store/store.ts";
import type { DeliveryMetrics } from "../delivery-metrics.ts";
import type { Chore } from "../upkeep.ts";

/** Receipts of one connector that may be parked. Only few wait for their message at a time; more than this match nothing. */
export const MAX_PARKED = 100_000;

/** Receipts of one connector that one transaction deletes: twice as many as a connector stores in one, so that it keeps pace with a flood. */
const CHUNK = 2_000;

/** Between two log lines about it. */
const TELL_EVERY_MS = 60_000;

export interface ParkedBoundDeps {
  readonly receipts: Pick<ReceiptStore, "dropParked">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
  readonly observe: Pick<DeliveryMetrics, "droppedReceipts">;
}

/** Keeps a provider whose receipts match nothing from filling the disk: the oldest are deleted. */
export function parkedBoundChore({ receipts, clock, log, observe }: ParkedBoundDeps): Chore {
  let untold = new Map<string, number>();
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const tell = () => {
    const nowMs = clock.monotonicMs();
    if (untold.size === 0 || nowMs - toldAtMs < TELL_EVERY_MS) return;
    const dropped = Object.fromEntries(untold);
    log.warn({ dropped, most: MAX_PARKED }, "receipts that match no message are too many; the oldest went");
    toldAtMs = nowMs;
    untold = new Map();
  };
  return {
    name: "bound parked receipts",
    everyMs: 10_000,
    async run() {
      const dropped = await receipts.dropParked({ most: MAX_PARKED, limit: CHUNK });
      for (const { connectorId: connector, receipts: count } of dropped) {
        untold.set(connector, (untold.get(connector) ?? 0) + count);
        observe.droppedReceipts({ connector, receipts: count });
      }
      tell();
      return dropped.reduce((sum, each) => sum + each.receipts, 0);
    },
  };
}
