import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { Chore } from "../core/work/chores.ts";
import type { InboundStore, ReceiptStore } from "../store/store.ts";
import type { DeliveryMetrics, Dropped } from "./delivery-metrics.ts";

/** The most receipts of one connector that stay parked. Few wait for their message at a time; any beyond this match nothing. */
export const MAX_PARKED = 100_000;

/** The most inbound messages of no account that are kept, of all connectors together: as many as are counted. */
export const MAX_UNASSIGNED = 100_000;

/** How many receipts of a connector one transaction deletes: twice as many as one stores, to keep pace with a flood. */
const PARKED_CHUNK = 2_000;

/** How many inbound messages one transaction deletes: enough to keep pace with four connectors that store as fast as they can. */
const UNASSIGNED_CHUNK = 4_000;

/** The time between two log lines about deletions. */
const TELL_EVERY_MS = 60_000;

export interface BoundDeps {
  readonly receipts: Pick<ReceiptStore, "dropParked">;
  readonly inbound: Pick<InboundStore, "dropUnassigned">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
  readonly observe: Pick<DeliveryMetrics, "droppedReceipts" | "droppedInbound">;
}

/** Chores that keep a provider from filling the disk with what belongs to no message or account: they delete the oldest. */
export function boundChores({ receipts, inbound, observe, ...deps }: BoundDeps): readonly Chore[] {
  return [
    boundChore(deps, {
      name: "bound parked receipts",
      most: MAX_PARKED,
      drop: async (most) =>
        (await receipts.dropParked({ most, limit: PARKED_CHUNK })).map(
          ({ connectorId: connector, receipts: count }) => ({ connector, count }),
        ),
      observe: observe.droppedReceipts,
      words: "receipts that match no message are too many; the oldest went",
    }),
    boundChore(deps, {
      name: "bound unassigned inbound",
      most: MAX_UNASSIGNED,
      drop: async (most) =>
        (await inbound.dropUnassigned({ most, limit: UNASSIGNED_CHUNK })).map(
          ({ connectorId: connector, messages: count }) => ({ connector, count }),
        ),
      observe: observe.droppedInbound,
      words: "inbound messages that belong to no account are too many; the oldest went",
    }),
  ];
}

interface Bound {
  readonly name: string;
  readonly most: number;
  readonly drop: (most: number) => Promise<readonly Dropped[]>;
  readonly observe: (dropped: Dropped) => void;
  /** The log line's text. The line says how many were deleted of each connector since the last one. */
  readonly words: string;
}

function boundChore(
  { clock, log }: Pick<BoundDeps, "clock" | "log">,
  { name, most, drop, observe, words }: Bound,
): Chore {
  let untold = new Map<string, number>();
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const tell = () => {
    const nowMs = clock.monotonicMs();
    if (untold.size === 0 || nowMs - toldAtMs < TELL_EVERY_MS) return;
    log.warn({ dropped: Object.fromEntries(untold), most }, words);
    toldAtMs = nowMs;
    untold = new Map();
  };
  return {
    name,
    everyMs: 10_000,
    async run() {
      const dropped = await drop(most);
      for (const each of dropped) {
        untold.set(each.connector, (untold.get(each.connector) ?? 0) + each.count);
        observe(each);
      }
      tell();
      return dropped.reduce((sum, { count }) => sum + count, 0);
    },
  };
}
