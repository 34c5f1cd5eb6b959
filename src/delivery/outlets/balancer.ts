import type { Clock } from "../../core/clock.ts";
import type { Choice, WeightedOutlet } from "./choose-outlets.ts";
import type { Outlet } from "./outlet.ts";

/** One message in this many goes to a connector that is passed over for its health; if there are several, to each in turn. */
const PROBE_EVERY = 20;

/** The same, if all other messages leave through other processes, which do not tell how many: one message in this time. */
const PROBE_EVERY_MS = 10_000;

/** Slots at a route's outlets that are reserved for one claim, and used up message by message. */
export interface Reservation {
  /** How many messages may be claimed. */
  readonly size: number;
  /** The outlet of the next message, which uses one of its slots; `undefined` when no slot is left. */
  next(): Outlet | undefined;
  /** Gives back the slots that were not used. */
  release(): void;
}

/** Divides a route's messages by weight. The shares even out over many claims, however small each claim is. */
export interface Balancer {
  /** Reserves at most `limit` slots; `undefined` if none is free. A full outlet leaves its share to the others. */
  reserve(choice: Choice, limit: number): Reservation | undefined;
}

export function createBalancer(clock: Pick<Clock, "monotonicMs">): Balancer {
  const credits = new Map<string, number>();
  const loneProbes = createLoneProbes(clock);
  let handedOut = 0;
  return {
    reserve({ sharing, probed }, limit) {
      const reserved = sharing.map((weighted) => reserveAt(weighted, limit)).filter(hasSlots);
      const size = Math.min(limit, totalSlots(reserved));
      if (size <= 0) return loneProbes.reserve({ sharing, probed });
      const mostProbes = Math.ceil(size / PROBE_EVERY);
      const probes = probed.map((outlet) => reserveAt({ outlet, weight: 1 }, mostProbes));
      forgetOthers(credits, reserved);
      return {
        size,
        next() {
          const isProbe = probes.length > 0 && ++handedOut % PROBE_EVERY === 0;
          const probe = isProbe ? firstFrom(probes, handedOut / PROBE_EVERY) : undefined;
          const chosen = probe ?? nextByWeight(reserved, credits);
          if (chosen) chosen.slots -= 1;
          return chosen?.outlet;
        },
        release() {
          for (const { outlet, slots } of [...reserved, ...probes]) outlet.unreserve(Math.max(0, slots));
        },
      };
    },
  };
}

/**
 * Probes of a process through which none of the route's messages leave: its own connector is passed over, and the one that
 * serves is bound in another process. Without probes, nobody would notice that the connector has recovered.
 */
function createLoneProbes(clock: Pick<Clock, "monotonicMs">) {
  let lastMs = Number.NEGATIVE_INFINITY;
  return {
    reserve({ sharing, probed }: Choice): Reservation | undefined {
      if (clock.monotonicMs() - lastMs < PROBE_EVERY_MS) return undefined;
      if (!sharing.every(({ outlet }) => outlet.isAwaited())) return undefined;
      const outlet = probed.find((each) => each.available() > 0);
      if (!outlet) return undefined;
      const place = reserveAt({ outlet, weight: 1 }, 1);
      return {
        size: 1,
        next() {
          if (!hasSlots(place)) return undefined;
          place.slots -= 1;
          lastMs = clock.monotonicMs();
          return outlet;
        },
        release: () => outlet.unreserve(place.slots),
      };
    },
  };
}

/** The slots that are still reserved at one outlet. */
interface Reserved extends WeightedOutlet {
  slots: number;
}

function reserveAt(weighted: WeightedOutlet, most: number): Reserved {
  const slots = Math.max(0, Math.min(most, weighted.outlet.available()));
  weighted.outlet.reserve(slots);
  return { ...weighted, slots };
}

function hasSlots({ slots }: Reserved): boolean {
  return slots > 0;
}

/** The first probe that has a slot, starting with the one whose `turn` it is. */
function firstFrom(probes: readonly Reserved[], turn: number): Reserved | undefined {
  const start = turn % probes.length;
  return [...probes.slice(start), ...probes.slice(0, start)].find(hasSlots);
}

function totalSlots(reserved: readonly Reserved[]): number {
  return reserved.reduce((total, { slots }) => total + slots, 0);
}

/** Smooth weighted round-robin: each outlet earns its weight in credit; the richest is chosen, and pays what all have earned. */
function nextByWeight(reserved: readonly Reserved[], credits: Map<string, number>): Reserved | undefined {
  const [first] = reserved;
  if (reserved.length === 1) return first && hasSlots(first) ? first : undefined;
  let earned = 0;
  let richest: Reserved | undefined;
  for (const each of reserved.filter(hasSlots)) {
    const credit = creditOf(each, credits) + each.weight;
    credits.set(each.outlet.channel.connectorId, credit);
    earned += each.weight;
    if (!richest || credit > creditOf(richest, credits)) richest = each;
  }
  if (richest) credits.set(richest.outlet.channel.connectorId, creditOf(richest, credits) - earned);
  return richest;
}

function creditOf({ outlet }: Reserved, credits: ReadonlyMap<string, number>): number {
  return credits.get(outlet.channel.connectorId) ?? 0;
}

/** Drops the credit of outlets that are full or gone. */
function forgetOthers(credits: Map<string, number>, reserved: readonly Reserved[]): void {
  const ids = new Set(reserved.map(({ outlet }) => outlet.channel.connectorId));
  for (const id of credits.keys()) if (!ids.has(id)) credits.delete(id);
}
