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

/** Crowded-out lanes that are opened for each place that becomes free: those that have waited for longest, and others. */
const CALLED_FIRST = 4;
const CALLED_BESIDES = 4;

export function createAgenda(maxLanes = MAX_LANES): Agenda {
  const known = new Map<string, Entry>();
  const open = new Set<Entry>();
  const crowded = createCrowd(open);

  return {
    add(lane) {
      const key = laneKey(lane);
      const entry = known.get(key) ?? { key, lane, heard: 0 };
      if (entry.heard === 0 && known.size >= maxLanes) return;
      known.set(key, entry);
      entry.heard++;
      if (!crowded.has(entry)) open.add(entry);
    },
    makeRoom(lane) {
      // Before the lane whose delivery has ended, which would take the place again and again.
      crowded.call();
      const entry = known.get(laneKey(lane));
      if (entry) open.add(entry);
    },
    open: () => open,
    toBack(item) {
      crowded.leave(item as Entry);
      if (open.delete(item as Entry)) open.add(item as Entry);
    },
    park(item, isCrowdedOut) {
      open.delete(item as Entry);
      if (isCrowdedOut) crowded.join(item as Entry);
      else crowded.leave(item as Entry);
    },
    drained(item, heard) {
      const entry = item as Entry;
      if (entry.heard !== heard) return;
      open.delete(entry);
      crowded.leave(entry);
      known.delete(entry.key);
    },
    size: () => known.size,
  };
}

/** The lanes that others crowd out, in the order of their turns. They keep their turn until there was room for them. */
function createCrowd(open: Set<Entry>) {
  const waiting = new Set<Entry>();
  let others = waiting.values();

  return {
    has: (entry: Entry) => waiting.has(entry),
    /** Behind all others, unless it waits already. */
    join: (entry: Entry) => void waiting.add(entry),
    leave: (entry: Entry) => void waiting.delete(entry),
    /** Opens some. The place may be none for the first ones, whose account has too many: so others are tried in turn. */
    call() {
      let calls = CALLED_FIRST;
      for (const entry of waiting) {
        if (calls === 0) break;
        if (open.has(entry)) continue;
        open.add(entry);
        calls--;
      }
      for (let besides = CALLED_BESIDES; besides > 0; besides--) {
        const { value, done } = others.next();
        if (done) others = waiting.values();
        else open.add(value);
      }
    },
  };
}

interface Entry extends Item {
  readonly key: string;
  heard: number;
}
