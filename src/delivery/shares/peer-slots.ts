import type { Clock } from "../../core/clock.ts";
import type { SlotLease } from "../../store/store.ts";

/**
 * How long messages wait for a connector that moves between two processes, or is being opened, before they go over the next one
 * of their route. Enough for a heartbeat of the process that leaves it, a bind, and a heartbeat of each other process.
 */
export const MOVE_MS = 5_000;

/** The slots of other processes, by the leases that each heartbeat returns: whether messages can leave through them. */
export interface PeerSlots {
  /** Watches a connector from now on, unless it is watched already. */
  watch(connector: string, slots: number): void;
  forget(connector: string): void;
  /** Takes up the leases that a heartbeat returned. Those of `silent` processes count for nothing. */
  note(leases: readonly SlotLease[], silent: ReadonlySet<string>): void;
  isUp(connector: string): boolean;
  /**
   * Whether the connector is moving: it was up, and within the last `MOVE_MS` all slots that were up have been given up or gone to
   * other processes. A slot that goes down where it is does not move.
   */
  isMoving(connector: string): boolean;
}

export interface PeerSlotsOptions {
  readonly clock: Clock;
  /** Whether this process holds the slot: then its own channel knows better. */
  readonly isHeld: (lease: SlotLease) => boolean;
}

interface Watched {
  readonly slots: number;
  isNew: boolean;
  up: readonly SlotLease[];
  /** When the connector began to move, on the monotonic clock. */
  movingSinceMs: number | undefined;
}

export function createPeerSlots({ clock, isHeld }: PeerSlotsOptions): PeerSlots {
  const watched = new Map<string, Watched>();
  return {
    watch(connector, slots) {
      if (watched.has(connector)) return;
      // Until a heartbeat tells, its slots may be free: then it comes up here, or elsewhere.
      watched.set(connector, { slots, isNew: true, up: [], movingSinceMs: clock.monotonicMs() });
    },
    forget: (connector) => void watched.delete(connector),
    note(leases, silent) {
      for (const [connector, each] of watched) {
        const own = leases.filter(({ name }) => name === connector);
        const up = own.filter(({ isUp, process }) => isUp && !silent.has(process));
        if (up.length > 0 || !isOnItsWay(each, own)) each.movingSinceMs = undefined;
        else each.movingSinceMs ??= clock.monotonicMs();
        each.up = up;
        each.isNew = false;
      }
    },
    isUp: (connector) => watched.get(connector)?.up.some((lease) => !isHeld(lease)) === true,
    isMoving(connector) {
      const since = watched.get(connector)?.movingSinceMs;
      return since !== undefined && clock.monotonicMs() - since < MOVE_MS;
    },
  };
}

/** Whether a connector that nobody has up is on its way to a process, and not down where it is. */
function isOnItsWay(
  { isNew, slots, up: before, movingSinceMs }: Watched,
  leases: readonly SlotLease[],
): boolean {
  if (isNew) return leases.length < slots;
  const hasStayed = before.some(({ slot, process }) =>
    leases.some((lease) => lease.slot === slot && lease.process === process),
  );
  return !hasStayed && (before.length > 0 || movingSinceMs !== undefined);
}
