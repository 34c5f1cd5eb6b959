import { type Clock, sleep } from "../../../core/clock.ts";
import { waitAtMost } from "../../../core/work/wait-at-most.ts";
import type { Limits } from "./mx-config.ts";

/** Limits how many messages are sent at a time, and per second, to each of many destinations (domains or hosts). */
export interface DestinationLimits {
  /** Waits for a place and for the rate, 10 s at most. A caller that is let in has to call `leave`, once. */
  readonly enter: (destination: string, signal: AbortSignal) => Promise<Entry>;
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
  const destinations = new Map<string, Destination>();

  const removeIdle = (destination: string, state: Destination) => {
    const isIdle = state.inFlight === 0 && state.line.size === 0 && state.nextMs <= clock.monotonicMs();
    if (isIdle) destinations.delete(destination);
  };
  const leave = (destination: string, state: Destination) => {
    const [next] = state.line;
    // The place is passed on: if it were free until the next message wakes up, another one could take it too.
    if (next) return next();
    state.inFlight--;
    removeIdle(destination, state);
  };
  const open = (destination: string): Destination => {
    const known = destinations.get(destination);
    if (known) return known;
    sweep(destinations, removeIdle);
    const made: Destination = { inFlight: 0, line: new Set(), nextMs: 0 };
    destinations.set(destination, made);
    return made;
  };

  return {
    async enter(destination, signal) {
      const state = open(destination);
      const latestMs = clock.monotonicMs() + PATIENCE_MS;
      const soonestMs = paceMs(state, clock, perSecond);
      if (soonestMs > PATIENCE_MS) return { kind: "full", retryAfterMs: soonestMs };
      if (state.inFlight >= atATime && state.line.size >= atATime * WAITING_PER_PLACE) {
        return { kind: "full", retryAfterMs: COME_BACK_MS };
      }
      if (state.inFlight < atATime) state.inFlight++;
      else if (!(await standInLine(state, clock, signal)))
        return { kind: "full", retryAfterMs: COME_BACK_MS };
      // Asked once there is a place, since the time spent in line has also passed for the rate.
      const waitMs = paceMs(state, clock, perSecond);
      if (clock.monotonicMs() + waitMs > latestMs) {
        leave(destination, state);
        return { kind: "full", retryAfterMs: waitMs };
      }
      if (perSecond !== undefined) state.nextMs = clock.monotonicMs() + waitMs + 1_000 / perSecond;
      if (waitMs > 0) await sleep(clock, waitMs, signal);
      return { kind: "in", leave: () => leave(destination, state) };
    },
  };
}

/** Enters several destinations, in the order given, which has to be the same for all callers: all of them, or none. */
export async function enterAll(
  limits: DestinationLimits,
  destinations: Iterable<string>,
  signal: AbortSignal,
): Promise<Entry> {
  const entered: (() => void)[] = [];
  const leave = () => {
    for (const each of entered) each();
  };
  for (const destination of destinations) {
    const entry = await limits.enter(destination, signal);
    if (entry.kind === "in") entered.push(entry.leave);
    else {
      leave();
      return entry;
    }
  }
  return { kind: "in", leave };
}

function paceMs({ nextMs }: Destination, clock: Clock, perSecond: number | undefined): number {
  return perSecond === undefined ? 0 : Math.max(0, nextMs - clock.monotonicMs());
}

/** Resolves with true when it is the caller's turn; with `undefined` after `PATIENCE_MS`, or on abort. */
function standInLine({ line }: Destination, clock: Clock, signal: AbortSignal): Promise<true | undefined> {
  return waitAtMost<true>(clock, { limitMs: PATIENCE_MS, signal }, (end) => {
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
