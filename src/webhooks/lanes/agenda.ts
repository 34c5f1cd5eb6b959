import type { Lane } from "../../core/webhooks/webhook-outbox.ts";
import { laneKey } from "./lane-key.ts";

/**
 * The lanes that may have ready events, as far as this process has heard. A lane without room is set aside until
 * `makeRoom`, so that a thousand paused hosts do not slow claims down.
 */
export interface Agenda {
  /** The lane may have a new ready event. */
  add(lane: Lane): void;
  /** There may be room for the lane, and one more place for all. */
  makeRoom(lane: Lane): void;
  /** The lanes to claim for, the one that waited for longest first. */
  open(): ReadonlySet<Item>;
  /** Moves it to the end of `open`. */
  toBack(item: Item): void;
  /** Sets it aside: it has no room. `isCrowdedOut`: because of other lanes. */
  park(item: Item, isCrowdedOut: boolean): void;
  /** A claim left the lane empty. Ignored if `add` was called since the claim began, when `heard` was this. */
  drained(item: Item, heard: number): void;
  size(): number;
}

export interface Item {
  readonly lane: Lane;
  /** How often `add` was called for it. */
  readonly heard: number;
}

/** Further lanes are left to polling, until there is room. */
const MAX_LANES = 50_000;

/** Crowded-out lanes that are opened again for each place that becomes free. */
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
      const key = laneKey(lane);
      const entry = known.get(key) ?? { key, lane, heard: 0 };
      if (entry.heard === 0 && known.size >= maxLanes) return;
      known.set(key, entry);
      entry.heard++;
      reopen(entry);
    },
    makeRoom(lane) {
      const entry = known.get(laneKey(lane));
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
