import type { Clock } from "../../../core/clock.ts";
import type { Limits } from "./mx-config.ts";

/** When it is the turn of the messages that a destination had no place for, even in line. */
export interface Turns {
  /** To be called when a message that was inside leaves. */
  readonly left: (turns: DestinationTurns, insideMs: number) => void;
  /**
   * Books the next turn at all of these destinations, and returns after how many milliseconds the message is to come back. No turn is
   * booked beyond `remainingMs`, when the message expires, nor where too many are booked already.
   */
  readonly book: (destinations: readonly CrowdedDestination[], remainingMs: number) => number;
}

export interface DestinationTurns {
  /** Until when turns are booked, on the monotonic clock. */
  bookedMs: number;
  /** How long messages were inside lately, about. */
  insideMs: number;
  /** When the last one left, or the first one came. */
  movedMs: number;
}

interface CrowdedDestination {
  readonly turns: DestinationTurns;
  /** Earliest time of the next start, on the monotonic clock. */
  readonly nextMs: number;
  readonly line: { readonly size: number };
  /** How many may be inside now. */
  readonly places: () => number;
}

/** How far ahead turns are booked. A message that gets none asks again after half of that: then some are free again. */
const HORIZON_MS = 60_000;

/** The shortest wait, in which those in line move on. */
const SHORTEST_MS = 200;

/** How long before its turn a message comes back, at most. It stands in line meanwhile: half of the line is for these. */
const EARLY_MS = 1_000;

/** A wait for a time of ours is lengthened by up to a tenth (`nextAttemptAt`): on average this makes up for it. */
const SPREAD = 1.05;

/**
 * The part of the last message in how long messages are said to be inside. It falls fast and rises slowly: who comes back too early is
 * put off once more, but where messages come back too late the destination is idle.
 */
const PART_OF_SHORTER = 1 / 2;
const PART_OF_LONGER = 1 / 16;

/** For so long nothing has to move: the machine may be busy, and a host may be slow once. */
const STILL_MS = 5_000;

/**
 * How long a message is said to be inside as long as none has left, where no rate says how long each takes. Most of a queue books by it,
 * since it comes at once: it fits a host nearby, and for one far away somewhat more messages come back too early.
 */
const GUESSED_INSIDE_MS = 50;

export function createTurns(clock: Pick<Clock, "monotonicMs">, { perSecond }: Limits): Turns {
  const leastMs = perSecond === undefined ? 0 : 1_000 / perSecond;
  /** How long each message takes, if many wait. Where nothing has moved for long, as with a host that is silent, it takes longer. */
  const intervalMs = ({ turns: { insideMs, movedMs }, places }: CrowdedDestination, nowMs: number) =>
    Math.max(leastMs, Math.max(insideMs, nowMs - movedMs - STILL_MS) / places());
  return {
    left(turns, insideMs) {
      const part = insideMs < turns.insideMs ? PART_OF_SHORTER : PART_OF_LONGER;
      turns.insideMs += (insideMs - turns.insideMs) * part;
      turns.movedMs = clock.monotonicMs();
    },
    book(destinations, remainingMs) {
      const nowMs = clock.monotonicMs();
      const waits = destinations.map((each) => {
        const { turns, nextMs, line } = each;
        const soonestMs = Math.max(nowMs, nextMs) + line.size * intervalMs(each, nowMs);
        return Math.max(turns.bookedMs, soonestMs) - nowMs;
      });
      const waitMs = Math.max(0, ...waits);
      if (waitMs > HORIZON_MS) return HORIZON_MS / 2;
      let earlyMs = EARLY_MS;
      for (const each of destinations) {
        const { turns, line } = each;
        const eachMs = intervalMs(each, nowMs);
        earlyMs = Math.min(earlyMs, (line.size / 2) * eachMs);
        if (waitMs < remainingMs) turns.bookedMs = nowMs + waitMs + eachMs;
      }
      return Math.max(SHORTEST_MS, waitMs / SPREAD - earlyMs);
    },
  };
}

export function newTurns(nowMs: number, { perSecond }: Limits): DestinationTurns {
  return { bookedMs: 0, insideMs: perSecond === undefined ? GUESSED_INSIDE_MS : 0, movedMs: nowMs };
}
