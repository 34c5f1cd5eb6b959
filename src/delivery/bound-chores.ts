import type { Clock } from "../core/clock.ts";
import type { Log } from "../core/log.ts";
import type { InboundStore, ReceiptStore } from "../store/store.ts";
import type { DeliveryMetrics } from "./delivery-metrics.ts";
import type { Chore } from "./upkeep.ts";

/** Receipts of one connector that may be parked. Only few wait for their message at a time; more than this match nothing. */
export const MAX_PARKED = 100_000;

/** Inbound messages of no account that are kept, of all connectors: as many as are counted. */
export const MAX_UNASSIGNED = 100_000;

/** Receipts of one connector that one transaction deletes: twice as many as a connector stores in one, so that it keeps pace with a flood. */
const PARKED_CHUNK = 2_000;

/** The same for inbound messages, of all connectors: it keeps pace with four that store as fast as they can. */
const UNASSIGNED_CHUNK = 4_000;

/** Between two log lines about it. */
const TELL_EVERY_MS = 60_000;

export interface BoundDeps {
  readonly receipts: Pick<ReceiptStore, "dropParked">;
  readonly inbound: Pick<InboundStore, "dropUnassigned">;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
  readonly observe: Pick<DeliveryMetrics, "droppedReceipts" | "droppedInbound">;
}

/** Keep a provider that brings what belongs to nothing from filling the disk: the oldest is deleted. */
export function boundChores({ receipts, inbound, clock, log, observe }: BoundDeps): readonly Chore[] {
  return [
    boundChore(
      {
        name: "bound parked receipts",
        drop: async () => {
          const dropped = await receipts.dropParked({ most: MAX_PARKED, limit: PARKED_CHUNK });
          return dropped.map(({ connectorId: connector, receipts: count }) => ({ connector, count }));
        },
        observe: ({ connector, count }) => observe.droppedReceipts({ connector, receipts: count }),
        tell: (dropped) =>
          log.warn(
            { dropped, most: MAX_PARKED },
            "receipts that match no message are too many; the oldest went",
          ),
      },
      clock,
    ),
    boundChore(
      {
        name: "bound unassigned inbound",
        drop: async () => {
          const dropped = await inbound.dropUnassigned({ most: MAX_UNASSIGNED, limit: UNASSIGNED_CHUNK });
          return dropped.map(({ connectorId: connector, messages: count }) => ({ connector, count }));
        },
        observe: ({ connector, count }) => observe.droppedInbound({ connector, messages: count }),
        tell: (dropped) =>
          log.warn(
            { dropped, most: MAX_UNASSIGNED },
            "inbound messages that belong to no account are too many; the oldest went",
          ),
      },
      clock,
    ),
  ];
}

interface Dropped {
  readonly connector: string;
  readonly count: number;
}

interface Bound {
  readonly name: string;
  readonly drop: () => Promise<readonly Dropped[]>;
  readonly observe: (dropped: Dropped) => void;
  /** How many of which connector, since it was told before. */
  readonly tell: (dropped: Readonly<Record<string, number>>) => void;
}

function boundChore({ name, drop, observe, tell }: Bound, clock: BoundDeps["clock"]): Chore {
  let untold = new Map<string, number>();
  let toldAtMs = Number.NEGATIVE_INFINITY;
  const tellAll = () => {
    const nowMs = clock.monotonicMs();
    if (untold.size === 0 || nowMs - toldAtMs < TELL_EVERY_MS) return;
    tell(Object.fromEntries(untold));
    toldAtMs = nowMs;
    untold = new Map();
  };
  return {
    name,
    everyMs: 10_000,
    async run() {
      const dropped = await drop();
      for (const each of dropped) {
        untold.set(each.connector, (untold.get(each.connector) ?? 0) + each.count);
        observe(each);
      }
      tellAll();
      return dropped.reduce((sum, { count }) => sum + count, 0);
    },
  };
}
