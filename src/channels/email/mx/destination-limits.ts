import { type Clock, sleep } from "../../../core/clock.ts";
import { type WaitLimits, waitAtMost } from "../../../core/work/wait-at-most.ts";
import type { Limits } from "./mx-config.ts";

/** Limits how many messages are sent at a time, and per second, to each of many destinations (domains or hosts). */
export interface DestinationLimits {
  /**
   * Waits for a place and for the rate, 10 s at most. A caller that is let in has to call `leave`, once. Into several destinations all
   * at once, or none; their order has to be the same for all callers, since they may wait.
   */
  readonly enter: (destinations: readonly string[], signal: AbortSignal) => Promise<Entry>;
}

export type Entry =
  | { readonly kind: "in"; readonly leave: () => void }
  /** It would take too long. */
  | { readonly kind: "full"; readonly retryAfterMs: number };

/** The longest wait in line. Meanwhile the message holds a slot that a message to another destination could use. */
const PATIENCE_MS = 10_000;
/** After this time a message is tried again that was held back, since as many as allowed were under way. */
export const COME_BACK_MS = 15_000;

/** How many may wait in line for each place; more are refused. */
const WAITING_PER_PLACE = 2;

interface Destination {
  inFlight: number;
  readonly line: Set<() => void>;
  /** Earliest time of the next start, on the monotonic clock. */
  nextMs: number;
}

export function createDestinationLimits(clock: Clock, { atATime, perSecond }: Limits): DestinationLimits {
  const { find, open, leave } = openDestinations(clock);
  const isCrowded = ({ inFlight, line }: Destination) =>
    inFlight >= atATime && line.size >= atATime * WAITING_PER_PLACE;
  const enter: DestinationLimits["enter"] = async (names, signal) => {
    const latestMs = clock.monotonicMs() + PATIENCE_MS;
    const known = names.flatMap((name) => find(name) ?? []);
    const soonestMs = paceMs(known, clock, perSecond);
    if (soonestMs > PATIENCE_MS) return { kind: "full", retryAfterMs: soonestMs };
    if (known.some(isCrowded)) return { kind: "full", retryAfterMs: COME_BACK_MS };
    const entered = new Map<string, Destination>();
    const leaveAll = () => {
      for (const [name, state] of entered) leave(name, state);
    };
    // An MX record may name an address, which is then both.
    for (const name of new Set(names)) {
      const state = open(name);
      const limitMs = latestMs - clock.monotonicMs();
      if (state.inFlight < atATime) state.inFlight++;
      else if (isCrowded(state) || !(await standInLine(state, clock, { limitMs, signal }))) {
        leaveAll();
        return { kind: "full", retryAfterMs: COME_BACK_MS };
      }
      entered.set(name, state);
    }
    // Asked once there is a place everywhere, since the time spent in line has also passed for the rate.
    const states = [...entered.values()];
    const waitMs = paceMs(states, clock, perSecond);
    const startMs = clock.monotonicMs() + waitMs;
    if (startMs > latestMs) {
      leaveAll();
      return { kind: "full", retryAfterMs: waitMs };
    }
    if (perSecond !== undefined) for (const state of states) state.nextMs = startMs + 1_000 / perSecond;
    if (waitMs > 0) await sleep(clock, waitMs, signal);
    return { kind: "in", leave: leaveAll };
  };
  return { enter };
}

/** Each is kept for as long as somebody is inside or in line, or its rate holds. */
function openDestinations(clock: Clock) {
  const destinations = new Map<string, Destination>();
  const removeIdle = (name: string, state: Destination) => {
    const isIdle = state.inFlight === 0 && state.line.size === 0 && state.nextMs <= clock.monotonicMs();
    if (isIdle) destinations.delete(name);
  };
  return {
    find: (name: string) => destinations.get(name),
    open(name: string): Destination {
      const known = destinations.get(name);
      if (known) return known;
      sweep(destinations, removeIdle);
      const made: Destination = { inFlight: 0, line: new Set(), nextMs: 0 };
      destinations.set(name, made);
      return made;
    },
    leave(name: string, state: Destination) {
      const [next] = state.line;
      // The place is passed on: if it were free until the next message wakes up, another one could take it too.
      if (next) return next();
      state.inFlight--;
      removeIdle(name, state);
    },
  };
}

/** How long it takes until the rate of all of them allows another start. */
function paceMs(states: readonly Destination[], clock: Clock, perSecond: number | undefined): number {
  if (perSecond === undefined) return 0;
  return Math.max(0, ...states.map(({ nextMs }) => nextMs - clock.monotonicMs()));
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
