import type { Clock } from "../../../core/clock.ts";

/** Leaves a relay alone for a while, on all of its connections, after it has said that we send too fast. */
export interface RelayRest {
  isOn(): boolean;
  /**
   * To be called when the relay throttles. Returns the milliseconds of rest that are left. A call during a rest changes nothing: it
   * is about a mail that was under way when the rest began.
   */
  begin(): number;
  /** To be called when the relay has taken a mail: the next rest is as short as the first. */
  forget(): void;
  stop(): void;
}

/** The first rest: providers count by the second. If it is not enough, as when a day's quota is used up, each rest doubles. */
const FIRST_MS = 1_000;
const LONGEST_MS = 60_000;

/** @param onOver called when a rest is over */
export function createRelayRest(clock: Clock, onOver: () => void): RelayRest {
  let nextMs = FIRST_MS;
  let untilMs = Number.NEGATIVE_INFINITY;
  let cancel = () => {};
  const leftMs = () => Math.max(0, untilMs - clock.monotonicMs());
  return {
    isOn: () => leftMs() > 0,
    begin() {
      if (leftMs() > 0) return leftMs();
      untilMs = clock.monotonicMs() + nextMs;
      cancel = clock.after(nextMs, onOver);
      nextMs = Math.min(2 * nextMs, LONGEST_MS);
      return leftMs();
    },
    forget() {
      nextMs = FIRST_MS;
    },
    stop: () => cancel(),
  };
}
