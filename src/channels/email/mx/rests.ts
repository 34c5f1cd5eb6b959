import type { Clock } from "../../../core/clock.ts";

/**
 * Which places take nothing for now, and why: what one message has met there, every other one would meet too. So a place rests; then one
 * message tries it while the others wait, until the place has answered.
 */
export interface Rests<Why> {
  /** To be called before a place is asked. */
  readonly begin: (place: string) => Visit | Held<Why>;
  /** Why nobody would be let in now; `undefined`: the next one would. */
  readonly whyOf: (place: string) => Why | undefined;
  /**
   * Lets the place rest, twice as long as the last time. During a rest it changes nothing: it is about something that was under way
   * when the rest began.
   */
  readonly rest: (place: string, why: Why) => void;
  /** Lets all in again. If it comes to nothing, the next rest is as long as it would have been. */
  readonly answered: (place: string) => void;
  /** Lets all in again, and the next rest is as short as the first; during a rest, only that. */
  readonly forget: (place: string) => void;
  /** Lets all in again, also during a rest: what it was about is over. */
  readonly lift: (place: string) => void;
}

export interface Visit {
  /** Has to be called once the visit is over, whatever came of it. */
  readonly end: () => void;
}

/** It rests, or another message is trying it. */
export interface Held<Why> {
  readonly why: Why;
  /** When to come back. */
  readonly retryAfterMs: number;
}

export interface RestLengths {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** How many places are remembered before all are forgotten. */
const MANY = 5_000;

interface Rest<Why> {
  readonly why: Why;
  readonly untilMs: number;
  nextMs: number;
  /** The place has not answered since the rest. */
  isUnsure: boolean;
  isTried: boolean;
}

export function createRests<Why>(
  clock: Pick<Clock, "monotonicMs">,
  { firstMs, longestMs }: RestLengths,
): Rests<Why> {
  const rests = new Map<string, Rest<Why>>();
  const leftMs = ({ untilMs }: Rest<Why>) => Math.max(0, untilMs - clock.monotonicMs());
  const isClosed = (known: Rest<Why>) => known.isTried || leftMs(known) > 0;

  return {
    begin(place) {
      const known = rests.get(place);
      if (known && isClosed(known)) return { why: known.why, retryAfterMs: leftMs(known) || firstMs };
      if (!known?.isUnsure) return { end() {} };
      known.isTried = true;
      return {
        end() {
          known.isTried = false;
        },
      };
    },
    whyOf(place) {
      const known = rests.get(place);
      return known && isClosed(known) ? known.why : undefined;
    },
    rest(place, why) {
      const known = rests.get(place);
      if (known && leftMs(known) > 0) return;
      if (!known && rests.size >= MANY) rests.clear();
      const restMs = known?.nextMs ?? firstMs;
      const untilMs = clock.monotonicMs() + restMs;
      const nextMs = Math.min(2 * restMs, longestMs);
      rests.set(place, { why, untilMs, nextMs, isUnsure: true, isTried: false });
    },
    answered(place) {
      const known = rests.get(place);
      if (!known || leftMs(known) > 0) return;
      known.isUnsure = false;
      known.isTried = false;
    },
    forget(place) {
      const known = rests.get(place);
      if (known && leftMs(known) > 0) known.nextMs = firstMs;
      else rests.delete(place);
    },
    lift: (place) => void rests.delete(place),
  };
}
