import type { Clock } from "../../core/clock.ts";
import { fairShare } from "../../core/queue/fair-share.ts";
import type { KeptLease, LeaseSnapshot, Slot } from "../../store/store.ts";
import type { OwnShare } from "./own-shares.ts";
import { MOVE_MS } from "./peer-slots.ts";

export interface OwnSlotsOptions {
  readonly connector: string;
  readonly slots: number;
  readonly process: string;
  /** Whether this process may use its leases at present. */
  readonly isValid: () => boolean;
  /** The places of an earlier share that is not closed: its slots are taken over, and those beyond `slots` given up. */
  readonly before?: Places | undefined;
  readonly clock: Clock;
  /** Called when the next heartbeat has news for other processes. */
  readonly onNews: () => void;
}

/** The slots of one connector that this process holds, is leaving, or wants. */
export interface OwnSlots {
  readonly places: Places;
  readonly share: Omit<OwnShare, "close">;
  /** The slots that are held. */
  slots(): readonly number[];
  /** The leases to renew: those of slots that are held or being left. */
  kept(): readonly KeptLease[];
  /** The free slots that this process should take, up to its fair share. */
  wanted(): readonly Slot[];
  /**
   * Holds the slots that belong to this process according to the store, and leaves those beyond its fair share. `silent`:
   * processes that may be dead; until they show themselves, their share of the free slots goes to the others.
   */
  apply(snapshot: LeaseSnapshot, silent: ReadonlySet<string>): void;
  /** Leaves all slots; messages under way may go on for `limitMs`. */
  letGo(limitMs: number): void;
  /** Stops telling its channel about changes. */
  close(): void;
}

const NONE: ReadonlySet<number> = new Set();

export function createOwnSlots(options: OwnSlotsOptions): OwnSlots {
  const { connector: name, slots: of, process, isValid, before, clock, onNews } = options;
  const places = before ?? createPlaces(clock);
  places.forgetFrom(of);
  const { held, listeners } = places;
  const { onChange, close } = createListening(listeners);
  let isUp = () => false;
  let toldUp = false;
  let wanted: readonly Slot[] = [];

  /** Tells the channels that slots were added, or that `left` are to be left. */
  const change = async (left: readonly number[], limitMs?: number) => {
    places.leave(left, limitMs === undefined && isUp());
    await Promise.all([...listeners].map((listener) => listener(limitMs)));
    places.free(left);
    if (left.length > 0) onNews();
  };
  return {
    places,
    share: {
      of,
      held: () => (isValid() ? held : NONE),
      onChange,
      tellUp(probe) {
        isUp = probe;
      },
      lookUp: () => void (held.size > 0 && isUp() !== toldUp && onNews()),
    },
    slots: () => [...held],
    kept() {
      toldUp = isUp();
      return places.shown(toldUp).map((each) => ({ name, ...each }));
    },
    wanted: () => wanted,
    apply({ processes, leases }, silent) {
      const taken = leases.filter((lease) => lease.name === name);
      const own = new Set(taken.filter((lease) => lease.process === process).map(({ slot }) => slot));
      const lost = [...held].filter((slot) => !own.has(slot));
      if (lost.length > 0) void change(lost, 0);
      // After a heartbeat that took too long, its leases have ended already; the next one gives up what was left meanwhile.
      const gained = isValid() ? places.hold(own) : [];
      const due = partOf(options, sharing(processes), silent);
      const surplus = [...held].slice(due);
      if (gained.length > 0 || surplus.length > 0) void change(surplus);
      wanted = freeSlots(options, taken, due - held.size);
    },
    letGo: (limitMs) => void (held.size > 0 && change([...held], limitMs)),
    close,
  };
}

type Listener = (limitMs?: number) => Promise<void>;

/** The listeners of one share, among those of all shares of the connector. */
function createListening(all: Set<Listener>) {
  const own: Listener[] = [];
  return {
    onChange(listener: Listener): void {
      own.push(listener);
      all.add(listener);
    },
    close() {
      for (const listener of own) all.delete(listener);
    },
  };
}

/** What the shares of one connector have in common while the channel of an earlier one is still stopping. */
export type Places = ReturnType<typeof createPlaces>;

/**
 * A slot is held, then being left while messages under way finish, then free. Its lease is renewed until it is free. A slot that
 * was up is shown as up while it is being left, so that the other processes wait for it; but not for ever, since answers may
 * never come.
 */
function createPlaces(clock: Clock) {
  const held = new Set<number>();
  /** The slots that are being left, and until when each is shown as up, on the monotonic clock. */
  const leaving = new Map<number, number>();
  return {
    held: held as ReadonlySet<number>,
    /** Those of all channels: a slot has been left once none of them uses it. */
    listeners: new Set<Listener>(),
    /** Holds these slots. Returns those that were free before. */
    hold(slots: ReadonlySet<number>): readonly number[] {
      const gained = [...slots].filter((slot) => !held.has(slot) && !leaving.has(slot));
      for (const slot of gained) held.add(slot);
      return gained;
    },
    leave(slots: readonly number[], areUp: boolean) {
      const upUntilMs = areUp ? clock.monotonicMs() + MOVE_MS : 0;
      for (const slot of slots) {
        held.delete(slot);
        leaving.set(slot, upUntilMs);
      }
    },
    free(slots: readonly number[]) {
      for (const slot of slots) leaving.delete(slot);
    },
    /** Gives up at once the slots from `count` on, of a connector that has fewer slots now. */
    forgetFrom(count: number) {
      for (const slot of held) if (slot >= count) held.delete(slot);
    },
    /** All slots that are not free, as the other processes are to see them. `isUp`: of those that are held. */
    shown: (isUp: boolean) => [
      ...[...held].map((slot) => ({ slot, isUp })),
      ...[...leaving].map(([slot, upUntilMs]) => ({ slot, isUp: clock.monotonicMs() < upUntilMs })),
    ],
  };
}

/** The larger fair share: with the silent processes, or without. So a slot does not move because its holder falls silent. */
function partOf(
  { connector: name, slots, process }: OwnSlotsOptions,
  all: readonly string[],
  silent: ReadonlySet<string>,
): number {
  const among = (processes: readonly string[]) => fairShare({ name, slots, process, processes });
  return Math.max(among(all), among(all.filter((one) => !silent.has(one))));
}

function sharing(processes: LeaseSnapshot["processes"]): readonly string[] {
  return processes.filter((one) => one.isSharing).map((one) => one.process);
}

/** Slots that nobody has, at most so many. */
function freeSlots(
  { connector: name, slots }: OwnSlotsOptions,
  taken: LeaseSnapshot["leases"],
  most: number,
): readonly Slot[] {
  const all = Array.from({ length: slots }, (_, slot) => ({ name, slot }));
  const free = all.filter(({ slot }) => !taken.some((lease) => lease.slot === slot));
  return free.slice(0, Math.max(0, most));
}
