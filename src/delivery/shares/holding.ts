import type { Share } from "../../channels/channel.ts";
import { fairShare } from "../../core/queue/share-out.ts";
import type { KeptLease, LeaseBoard, Slot } from "../../store/store.ts";

export interface HoldingOptions {
  readonly connector: string;
  readonly slots: number;
  readonly process: string;
  /** Whether this process may use its leases now. */
  readonly isSure: () => boolean;
  /** Slots that the process holds already; those beyond `slots` are given up. */
  readonly has: readonly number[];
}

/** The slots of one connector that this process holds, leaves and wants. */
export interface Holding {
  readonly share: Share & { tellUp(isUp: () => boolean): void };
  /** Slots that are held. */
  slots(): readonly number[];
  /** The leases to renew: of slots that are held or being left. */
  kept(): readonly KeptLease[];
  /** Free slots that this process is to take, up to its fair share. */
  wanted(): readonly Slot[];
  /** Holds the slots that the board says are this process's, and leaves those beyond its fair share. */
  look(board: LeaseBoard): void;
  /** Leaves all slots; messages under way may go on for `limitMs`. */
  letGo(limitMs: number): void;
}

const NONE: ReadonlySet<number> = new Set();

type Listener = (limitMs?: number) => Promise<void>;

/** A slot is held, then being left while messages under way finish, then free. Until it is free its lease is renewed. */
export function createHolding({ connector: name, slots: of, process, isSure, has }: HoldingOptions): Holding {
  const held = new Set(has.filter((slot) => slot < of));
  const leaving = new Set<number>();
  const listeners: Listener[] = [];
  let isUp = () => false;
  let wanted: readonly Slot[] = [];

  const change = async (left: readonly number[], limitMs?: number) => {
    for (const slot of left) {
      held.delete(slot);
      leaving.add(slot);
    }
    await Promise.all(listeners.map((listener) => listener(limitMs)));
    for (const slot of left) leaving.delete(slot);
  };
  return {
    share: {
      of,
      held: () => (isSure() ? held : NONE),
      onChange: (listener) => void listeners.push(listener),
      tellUp(probe) {
        isUp = probe;
      },
    },
    slots: () => [...held],
    kept: () => [...held, ...leaving].map((slot) => ({ name, slot, isUp: held.has(slot) && isUp() })),
    wanted: () => wanted,
    look({ processes, leases }) {
      const taken = leases.filter((lease) => lease.name === name);
      const own = new Set(taken.filter((lease) => lease.process === process).map(({ slot }) => slot));
      const lost = [...held].filter((slot) => !own.has(slot));
      if (lost.length > 0) void change(lost, 0);
      const gained = [...own].filter((slot) => !held.has(slot) && !leaving.has(slot));
      for (const slot of gained) held.add(slot);
      const due = fairShare({ name, slots: of, process, processes: sharing(processes) });
      const surplus = [...held].slice(due);
      if (gained.length > 0 || surplus.length > 0) void change(surplus);
      const free = numbersBelow(of).filter((slot) => !taken.some((lease) => lease.slot === slot));
      wanted = free.slice(0, Math.max(0, due - held.size)).map((slot) => ({ name, slot }));
    },
    letGo(limitMs) {
      if (held.size > 0) void change([...held], limitMs);
    },
  };
}

function sharing(processes: LeaseBoard["processes"]): readonly string[] {
  return processes.filter((one) => one.isSharing).map((one) => one.process);
}

function numbersBelow(limit: number): readonly number[] {
  return Array.from({ length: limit }, (_, index) => index);
}
