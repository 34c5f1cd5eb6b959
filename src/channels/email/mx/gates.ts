import { type Clock, sleep } from "../../../core/clock.ts";
import type { Limits } from "./mx-config.ts";

/** Keeps each of many destinations to a number at a time, and to a rate. */
export interface Gates {
  /** Waits for a place and for the rate, at most 10 s in all. Whoever is let in has to call `leave`, once. */
  readonly enter: (destination: string, signal: AbortSignal) => Promise<Entry>;
}

export type Entry =
  | { readonly kind: "in"; readonly leave: () => void }
  /** It would take too long. */
  | { readonly kind: "full"; readonly retryAfterMs: number };

/** Longest wait in line. Meanwhile the message holds a slot that one to another destination could have. */
const PATIENCE_MS = 10_000;
const COME_BACK_MS = 15_000;

/** How many may wait in line for each place; more are sent away. */
const WAITING_PER_PLACE = 2;

interface Gate {
  inside: number;
  readonly line: (() => void)[];
  /** Earliest time of the next start, on the monotonic clock. */
  nextMs: number;
}

export function createGates(clock: Clock, { atATime, perSecond }: Limits): Gates {
  const gates = new Map<string, Gate>();

  const removeIdle = (destination: string, gate: Gate) => {
    const isIdle = gate.inside === 0 && gate.line.length === 0 && gate.nextMs <= clock.monotonicMs();
    if (isIdle) gates.delete(destination);
  };
  const leave = (destination: string, gate: Gate) => {
    const next = gate.line.shift();
    // The place is handed on: were it free until the next one wakes up, somebody else could take it as well.
    if (next) return next();
    gate.inside--;
    removeIdle(destination, gate);
  };
  const open = (destination: string): Gate => {
    const known = gates.get(destination);
    if (known) return known;
    sweep(gates, removeIdle);
    const made: Gate = { inside: 0, line: [], nextMs: 0 };
    gates.set(destination, made);
    return made;
  };

  return {
    async enter(destination, signal) {
      const gate = open(destination);
      const latestMs = clock.monotonicMs() + PATIENCE_MS;
      const soonestMs = paceMs(gate, clock, perSecond);
      if (soonestMs > PATIENCE_MS) return { kind: "full", retryAfterMs: soonestMs };
      if (gate.inside >= atATime && gate.line.length >= atATime * WAITING_PER_PLACE) {
        return { kind: "full", retryAfterMs: COME_BACK_MS };
      }
      if (gate.inside < atATime) gate.inside++;
      else if (!(await standInLine(gate, clock, signal))) return { kind: "full", retryAfterMs: COME_BACK_MS };
      // Asked once the place is there: time spent in line has passed for the rate, too.
      const waitMs = paceMs(gate, clock, perSecond);
      if (clock.monotonicMs() + waitMs > latestMs) {
        leave(destination, gate);
        return { kind: "full", retryAfterMs: waitMs };
      }
      if (perSecond !== undefined) gate.nextMs = clock.monotonicMs() + waitMs + 1_000 / perSecond;
      if (waitMs > 0) await sleep(clock, waitMs, signal);
      return { kind: "in", leave: () => leave(destination, gate) };
    },
  };
}

function paceMs({ nextMs }: Gate, clock: Clock, perSecond: number | undefined): number {
  return perSecond === undefined ? 0 : Math.max(0, nextMs - clock.monotonicMs());
}

/** True when it is the caller's turn; false after `PATIENCE_MS`, or on abort. */
function standInLine({ line }: Gate, clock: Clock, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isTurn: boolean) => {
      cancel();
      signal.removeEventListener("abort", giveUp);
      const place = line.indexOf(call);
      if (place >= 0) line.splice(place, 1);
      resolve(isTurn);
    };
    const call = () => settle(true);
    const giveUp = () => settle(false);
    const cancel = clock.after(PATIENCE_MS, giveUp);
    line.push(call);
    signal.addEventListener("abort", giveUp);
    if (signal.aborted) giveUp();
  });
}

const SWEEP_FROM = 10_000;

/** A gate with a rate is kept for a moment after its last message. When there are many, the idle ones are removed. */
function sweep(gates: Map<string, Gate>, removeIdle: (destination: string, gate: Gate) => void): void {
  if (gates.size < SWEEP_FROM) return;
  for (const [destination, gate] of gates) removeIdle(destination, gate);
}
