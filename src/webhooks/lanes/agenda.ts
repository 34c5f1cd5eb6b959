import type { Lane } from "../../core/webhooks/webhook-outbox.ts";

/**
 * The lanes that may have events in line, as far as this process has heard. A lane that has no room is out of the way
 * until somebody says that it has, so that a thousand paused hosts cost a turn nothing.
 */
export interface Agenda {
  /** Something may have come into the lane's line. */
  add(lane: Lane): void;
  /** There is room for the lane, and one more for all. */
  makeRoom(lane: Lane): void;
  /** Those to be looked at, the one that waited for longest first. */
  open(): ReadonlySet<Item>;
  /** It has been looked at and is the last from now on. */
  toBack(item: Item): void;
  /** It has no room; `isCrowdedOut`: because of others. */
  park(item: Item, isCrowdedOut: boolean): void;
  /** Nothing was left in line at a look that began when `heard` was this; what came since then counts. */
  drained(item: Item, heard: number): void;
  size(): number;
}

export interface Item {
  readonly lane: Lane;
  /** How often something was said to have come. */
  readonly heard: number;
}

/** Beyond it lanes are found by polling, as there is room. */
const MAX_LANES = 50_000;

/** Crowded lanes that are looked at again for each place that comes free. */
const CALLED_AT_ONCE = 8;

export function createAgenda(maxLanes = MAX_LANES): Agenda {
  const known = new Map<string, Entry>();
  const open = new Set<Entry>();
  const crowded = new Set<Entry>();

  const reopen = (entry: Entry) => {
    crowded.delete(entry);
    open.add(entry);
  };
  const callCrowded = () => {
    let calls = CALLED_AT_ONCE;
    for (const entry of crowded) {
      if (calls-- === 0) return;
      reopen(entry);
    }
  };
  return {
    add(lane) {
      const key = keyOf(lane);
      const entry = known.get(key) ?? { key, lane, heard: 0 };
      if (entry.heard === 0 && known.size >= maxLanes) return;
      known.set(key, entry);
      entry.heard++;
      reopen(entry);
    },
    makeRoom(lane) {
      const entry = known.get(keyOf(lane));
      if (entry) reopen(entry);
      callCrowded();
    },
    open: () => open,
    toBack(item) {
      if (open.delete(item as Entry)) open.add(item as Entry);
    },
    park(item, isCrowdedOut) {
      open.delete(item as Entry);
      if (isCrowdedOut) crowded.add(item as Entry);
    },
    drained(item, heard) {
      const entry = item as Entry;
      if (entry.heard !== heard) return;
      open.delete(entry);
      crowded.delete(entry);
      known.delete(entry.key);
    },
    size: () => known.size,
  };
}

interface Entry extends Item {
  readonly key: string;
  heard: number;
}

function keyOf({ accountId, host }: Lane): string {
  return `${accountId} ${host}`;
}
