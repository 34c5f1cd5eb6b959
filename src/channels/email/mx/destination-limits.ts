import { type Clock, sleep } from "../../../core/clock.ts";
import { type WaitLimits, waitAtMost } from "../../../core/work/wait-at-most.ts";
import { createTurns, type DestinationTurns, newTurns, type Turns } from "./destination-turns.ts";
import type { Limits } from "./mx-config.ts";

/** Limits how many messages are sent at a time, and per second, to each of many destinations (domains or hosts). */
export interface DestinationLimits {
  /**
   * Waits for a place and for the rate, 10 s at most. A caller that is let in has to call `leave`, once. Into several destinations all
   * at once, or none; their order has to be the same for all callers, since they may wait. `hasOthers`: the message may go elsewhere, so
   * that it does not wait where fewer places are left than the limits allow.
   */
  readonly enter: (
    destinations: readonly string[],
    signal: AbortSignal,
    hasOthers?: boolean,
  ) => Promise<Entry>;
}

/** `full`: it would take too long. */
export type Entry = ({ readonly kind: "in"; readonly leave: () => void } | { readonly kind: "full" }) &
  Booking;

export interface Booking {
  /** See `Turns`. To be called if the message is to wait for these destinations. */
  readonly book: (remainingMs: number) => number;
}

/** The longest wait in line. Meanwhile the message holds a slot that a message to another destination could use. */
const PATIENCE_MS = 10_000;
/** How many may wait in line for each place; more are refused. */
const WAITING_PER_PLACE = 2;

interface Destination {
  inFlight: number;
  readonly line: Set<() => void>;
  /** Earliest time of the next start, on the monotonic clock. */
  nextMs: number;
  readonly turns: DestinationTurns;
  /** How many may be inside now. */
  readonly places: () => number;
}

/** A message's place at a destination. */
interface Place {
  readonly state: Destination;
  /** Since when it is inside, on the monotonic clock. */
  readonly sinceMs: number;
}

/** @param mostAt how many a destination takes at a time, where that may be fewer than the limits allow; at least one */
export function createDestinationLimits(
  clock: Clock,
  limits: Limits,
  mostAt: (destination: string) => number = () => limits.atATime,
): DestinationLimits {
  const { atATime, perSecond } = limits;
  const turns = createTurns(clock, limits);
  const { find, open, leave } = openDestinations(clock, { limits, mostAt }, turns);
  const paceMs = paceOf(clock, limits);
  const isCrowded = (state: Destination, hasOthers: boolean) => {
    const places = state.places();
    if (state.inFlight < places) return false;
    if (hasOthers && places < atATime) return true;
    return state.line.size >= places * WAITING_PER_PLACE || paceMs([state]) > PATIENCE_MS;
  };
  const enter: DestinationLimits["enter"] = async (names, signal, hasOthers = false) => {
    const latestMs = clock.monotonicMs() + PATIENCE_MS;
    const known = names.flatMap(find);
    const book = (remainingMs: number) => turns.book(names.flatMap(find), remainingMs);
    const full: Entry = { kind: "full", book };
    if (paceMs(known) > PATIENCE_MS || known.some((state) => isCrowded(state, hasOthers))) return full;
    const entered = new Map<string, Place>();
    const leaveAll = () => {
      for (const [name, place] of entered) leave(name, place);
    };
    // An MX record may name an address, which is then both.
    for (const name of new Set(names)) {
      const state = open(name);
      const limitMs = latestMs - clock.monotonicMs();
      if (state.inFlight < state.places()) state.inFlight++;
      else if (isCrowded(state, hasOthers) || !(await standInLine(state, clock, { limitMs, signal }))) {
        leaveAll();
        return full;
      }
      entered.set(name, { state, sinceMs: clock.monotonicMs() });
    }
    // Asked once there is a place everywhere, since the time spent in line has also passed for the rate.
    const states = [...entered.values()].map(({ state }) => state);
    const waitMs = Math.max(0, ...states.map(({ nextMs }) => nextMs - clock.monotonicMs()));
    const startMs = clock.monotonicMs() + waitMs;
    if (startMs > latestMs) {
      leaveAll();
      return full;
    }
    if (perSecond !== undefined) for (const state of states) state.nextMs = startMs + 1_000 / perSecond;
    if (waitMs > 0) await sleep(clock, waitMs, signal);
    return { kind: "in", leave: leaveAll, book };
  };
  return { enter };
}

interface Bounds {
  readonly limits: Limits;
  readonly mostAt: (destination: string) => number;
}

/** Each is kept for as long as somebody is inside or in line, its rate holds, or turns are booked. */
function openDestinations(clock: Clock, { limits, mostAt }: Bounds, turns: Turns) {
  const destinations = new Map<string, Destination>();
  const removeIdle = (name: string, state: Destination) => {
    const isEmpty = state.inFlight === 0 && state.line.size === 0;
    const heldMs = Math.max(state.nextMs, state.turns.bookedMs);
    if (isEmpty && heldMs <= clock.monotonicMs()) destinations.delete(name);
  };
  return {
    find: (name: string) => destinations.get(name) ?? [],
    open(name: string): Destination {
      const known = destinations.get(name);
      if (known) return known;
      sweep(destinations, removeIdle);
      const made: Destination = {
        inFlight: 0,
        line: new Set(),
        nextMs: 0,
        turns: newTurns(clock.monotonicMs(), limits),
        places: () => Math.min(limits.atATime, mostAt(name)),
      };
      destinations.set(name, made);
      return made;
    },
    leave(name: string, { state, sinceMs }: Place) {
      turns.left(state.turns, clock.monotonicMs() - sinceMs);
      state.inFlight--;
      // Places are passed on: if one were free until the next message wakes up, another one could take it too.
      for (const next of state.line) {
        if (state.inFlight >= state.places()) break;
        state.inFlight++;
        next();
      }
      removeIdle(name, state);
    },
  };
}

/** How long it takes until the rate of all of them allows another start, after those in line. */
function paceOf(clock: Clock, { perSecond }: Limits) {
  if (perSecond === undefined) return () => 0;
  return (states: readonly Destination[]) =>
    Math.max(
      0,
      ...states.map(({ nextMs, line }) => nextMs - clock.monotonicMs() + (line.size / perSecond) * 1_000),
    );
}

/** Resolves with true when it is the caller's turn; with `undefined` if the limits end the wait. */
function standInLine({ line }: Destination, clock: Clock, limits: WaitLimits): Promise<true | undefined> {
  return waitAtMost<true>(clock, limits, (end) => {
    const call = () => end(true);
    line.add(call);
    return () => line.delete(call);
  });
}

const SWEEP_FROM = 10_000;

/** A destination with a rate is kept for a moment after its last message. When there are many, the idle ones are removed. */
function sweep(
  destinations: Map<string, Destination>,
  removeIdle: (destination: string, state: Destination) => void,
): void {
  if (destinations.size < SWEEP_FROM) return;
  for (const [destination, state] of destinations) removeIdle(destination, state);
}
